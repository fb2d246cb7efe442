// Package models holds the commands on models.
package models

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
	"chela/internal/config"
)

// A Home is what the commands ask of an open home.
type Home struct {
	// Models returns those that are known, sorted by provider and name.
	Models func(ctx context.Context) ([]chela.Model, error)

	// Test sends a short request to provider/model.
	Test func(ctx context.Context, model string) (chela.Finish, error)
}

// A Program is what the commands run in. All fields are required.
type Program struct {
	Printer *manners.Printer
	Now     func() time.Time

	// Interruptible returns a context that ends when the person presses Ctrl-C;
	// its cancel function ends that.
	Interruptible func(ctx context.Context) (context.Context, context.CancelFunc)

	// Open opens the home and its models for use.
	Open func(ctx context.Context, use func(*config.Config, Home) error) error
}

// Command returns the commands.
func Command(p Program) *cobra.Command {
	return manners.Group("models", "Look at models and try one",
		&cobra.Command{
			Use: "list", Short: "List the models that are known", Args: manners.Exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return p.list(cmd.Context()) },
		},
		&cobra.Command{
			Use: "test [PROVIDER/MODEL]", Short: "Send a short request to a model", Args: manners.Between(0, 1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.Open(cmd.Context(), func(cfg *config.Config, h Home) error {
					return p.test(cmd.Context(), h, append(args, cfg.Model)[0])
				})
			},
		},
	)
}

func (p Program) list(ctx context.Context) error {
	return p.Open(ctx, func(_ *config.Config, h Home) error {
		all, err := h.Models(ctx)
		if err != nil {
			return err
		}
		return manners.List(p.Printer, all, []string{"MODEL", "WINDOW", "MAX OUTPUT"}, func(m chela.Model) []string {
			return []string{m.Provider + "/" + m.Name, known(m.Window), known(m.MaxOutput)}
		})
	})
}

// known writes a number of tokens, if there is one.
func known(n int) string {
	if n == 0 {
		return "not known"
	}
	return fmt.Sprint(n)
}

func (p Program) test(ctx context.Context, h Home, model string) error {
	within, release := p.Interruptible(ctx)
	defer release()
	began := p.Now()
	end, err := h.Test(within, model)
	if err != nil {
		return err
	}
	after := p.Now().Sub(began)
	if p.Printer.JSON {
		return p.Printer.Document(struct {
			Model string           `json:"model"`
			Text  string           `json:"text"`
			MS    int64            `json:"ms"`
			Usage chela.TokenUsage `json:"usage"`
		}{model, end.Text, after.Milliseconds(), end.Usage})
	}
	p.Printer.Fields([2]string{"model", model}, [2]string{"answered in", terminal.Lasting(after)}, [2]string{"answer", end.Text})
	return nil
}
