package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/config"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

// A tool is the JSON output for a chela.Tool.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Domain      chela.Domain    `json:"domain"`
	Input       json.RawMessage `json:"input"`
}

func shownTool(t chela.Tool) tool {
	return tool{Name: t.Name, Description: t.Description, Domain: t.Domain, Input: t.Input}
}

func (c *commands) toolsCommand() *cobra.Command {
	var agent string
	cmd := manners.Group("tools", "List tools and run one manually",
		&cobra.Command{
			Use: "list", Short: "List the tools of an agent", Args: manners.Exactly(0),
			RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error { return c.toolsList(ctx, b, agent) }),
		},
		&cobra.Command{
			Use: "info NAME", Short: "Show a tool and its parameters", Args: manners.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.toolInfo(ctx, b, agent, args[0])
			}),
		},
		&cobra.Command{
			Use: "call NAME [JSON]", Short: "Run a tool with arguments as a JSON object", Args: manners.Between(1, 2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.toolCall(cmd.Context(), agent, append(args, "{}")[:2])
			},
		},
	)
	cmd.PersistentFlags().StringVar(&agent, "agent", chela.MainAgent, "whose tools")
	return cmd
}

func (c *commands) toolsList(ctx context.Context, b *Backend, agent string) error {
	all, err := b.Tools.Tools(ctx, agent)
	if err != nil {
		return err
	}
	shown := make([]tool, len(all))
	for i, t := range all {
		shown[i] = shownTool(t)
	}
	return manners.List(c.p, shown, []string{"TOOL", "DOMAIN", "DESCRIPTION"}, func(t tool) []string {
		first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		return []string{t.Name, string(t.Domain), first}
	})
}

func (c *commands) toolInfo(ctx context.Context, b *Backend, agent, name string) error {
	t, err := toolNamed(ctx, b, agent, name)
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(shownTool(t))
	}
	c.p.Fields([2]string{"tool", t.Name}, [2]string{"domain", string(t.Domain)})
	c.p.Line("\n" + t.Description + "\n\n" + indented(t.Input))
	return nil
}

// toolNamed returns a tool of an agent.
func toolNamed(ctx context.Context, b *Backend, agent, name string) (chela.Tool, error) {
	all, err := b.Tools.Tools(ctx, agent)
	if err != nil {
		return chela.Tool{}, err
	}
	for _, t := range all {
		if t.Name == name {
			return t, nil
		}
	}
	return chela.Tool{}, chela.E(chela.NotFound, "no tool "+terminal.OneLine(name, 40)).WithHint("see chela tools list")
}

// indented writes a schema for people.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	json.Indent(&b, raw, "", "  ") //nolint:errcheck // a tool's schema is JSON
	return b.String()
}

// toolCall runs a tool; args are its name and its arguments.
func (c *commands) toolCall(ctx context.Context, agent string, args []string) error {
	if !json.Valid([]byte(args[1])) {
		return chela.E(chela.Invalid, "the arguments are not JSON").
			WithHint(`write them as '{"name": "value"}' (chela tools info ` + terminal.OneLine(args[0], 40) + " shows which)")
	}
	return c.open(ctx, func(_ *config.Config, b *Backend) error {
		if _, err := toolNamed(ctx, b, agent, args[0]); err != nil {
			return err
		}
		within, release := c.Interruptible(ctx)
		defer release()
		result, err := b.Tools.Call(within, agent, args[0], json.RawMessage(args[1]))
		if chela.KindOf(err) == chela.Invalid && chela.HintOf(err) == "" {
			return chela.E(chela.Invalid, chela.MessageOf(err)).WithHint("see chela tools info " + args[0]).Because(err)
		}
		if err != nil {
			return err
		}
		if c.p.JSON {
			err = c.p.Document(struct {
				Text        string             `json:"text"`
				Failed      bool               `json:"failed"`
				Attachments []chela.Attachment `json:"attachments,omitempty"`
			}{result.Text, result.Failed, result.Attachments})
			if err != nil {
				return err
			}
		} else {
			c.p.Line(result.Text)
		}
		if result.Failed {
			return chela.E(chela.Unavailable, terminal.OneLine(args[0], 40)+" could not do it").WithHint("see what it says")
		}
		return nil
	})
}
