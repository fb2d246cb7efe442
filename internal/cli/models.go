package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
	"chela/internal/config"
)

func (c *commands) modelsCommand() *cobra.Command {
	return manners.Group("models", "Look at models and try one",
		&cobra.Command{
			Use: "list", Short: "List the models that are known", Args: manners.Exactly(0),
			RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
				all, err := b.Models.Models(ctx)
				if err != nil {
					return err
				}
				return manners.List(c.p, all, []string{"MODEL", "WINDOW", "MAX OUTPUT"}, func(m chela.Model) []string {
					return []string{m.Provider + "/" + m.Name, known(m.Window), known(m.MaxOutput)}
				})
			}),
		},
		&cobra.Command{
			Use: "test [PROVIDER/MODEL]", Short: "Send a short request to a model", Args: manners.Between(0, 1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.open(cmd.Context(), func(cfg *config.Config, b *Backend) error {
					return c.modelTest(cmd.Context(), b, append(args, cfg.Model)[0])
				})
			},
		},
	)
}

// known writes a number of tokens, if there is one.
func known(n int) string {
	if n == 0 {
		return "not known"
	}
	return fmt.Sprint(n)
}

func (c *commands) modelTest(ctx context.Context, b *Backend, model string) error {
	within, release := c.Interruptible(ctx)
	defer release()
	began := c.Now()
	end, err := b.Models.Test(within, model)
	if err != nil {
		return err
	}
	after := c.Now().Sub(began)
	if c.p.JSON {
		return c.p.Document(struct {
			Model string           `json:"model"`
			Text  string           `json:"text"`
			MS    int64            `json:"ms"`
			Usage chela.TokenUsage `json:"usage"`
		}{model, end.Text, after.Milliseconds(), end.Usage})
	}
	c.p.Fields([2]string{"model", model}, [2]string{"answered in", terminal.Lasting(after)}, [2]string{"answer", end.Text})
	return nil
}
