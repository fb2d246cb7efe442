package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

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
	all, err := api.All(ctx, b.API, api.ToolsList, api.ToolsQuery{Agent: agent})
	if err != nil {
		return err
	}
	return manners.List(c.p, all, []string{"TOOL", "DOMAIN", "DESCRIPTION"}, func(t api.Tool) []string {
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
		return c.p.Document(t)
	}
	c.p.Fields([2]string{"tool", t.Name}, [2]string{"domain", string(t.Domain)})
	c.p.Line("\n" + t.Description + "\n\n" + indented(t.Input))
	return nil
}

// toolNamed returns a tool of an agent.
func toolNamed(ctx context.Context, b *Backend, agent, name string) (api.Tool, error) {
	all, err := api.All(ctx, b.API, api.ToolsList, api.ToolsQuery{Agent: agent})
	if err != nil {
		return api.Tool{}, err
	}
	for _, t := range all {
		if t.Name == name {
			return t, nil
		}
	}
	return api.Tool{}, chela.E(chela.NotFound, "no tool "+terminal.OneLine(name, 40)).WithHint("see chela tools list")
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
		result, err := api.Call(within, b.API, api.ToolsRun, api.ToolRequest{Name: args[0], Run: api.ToolRun{Agent: agent, Args: json.RawMessage(args[1])}})
		if chela.KindOf(err) == chela.Invalid && chela.HintOf(err) == "" {
			return chela.E(chela.Invalid, chela.MessageOf(err)).WithHint("see chela tools info " + args[0]).Because(err)
		}
		if err != nil {
			return err
		}
		if c.p.JSON {
			if err := c.p.Document(result); err != nil {
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
