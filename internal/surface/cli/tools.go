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
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

func (c *commands) toolsCommand() *cobra.Command {
	return console.Group("tools", "List tools and run one manually", listing(c, api.ToolsList, tools), c.toolInfo(), c.toolCall())
}

var tools = table[api.Tool]{
	head: []string{"TOOL", "DOMAIN", "DESCRIPTION"},
	row: func(t api.Tool) []string {
		first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		return []string{t.Name, string(t.Domain), first}
	},
}

// agentFlag adds the flag of a command on the tools of an agent.
func agentFlag(cmd *cobra.Command, agent *string) *cobra.Command {
	cmd.Flags().StringVar(agent, "agent", "", "the agent; main without it")
	return cmd
}

func (c *commands) toolInfo() *cobra.Command {
	var agent string
	return agentFlag(&cobra.Command{
		Use: "info NAME", Short: "Show a tool and its parameters", Args: console.Exactly(1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			t, err := toolNamed(ctx, b, agent, args[0])
			switch {
			case err != nil:
				return err
			case c.p.JSON:
				return c.p.Document(t)
			}
			c.p.Fields([2]string{"tool", t.Name}, [2]string{"domain", string(t.Domain)})
			c.p.Line("\n" + t.Description + "\n\n" + indented(t.Input))
			return nil
		}),
	}, &agent)
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

func (c *commands) toolCall() *cobra.Command {
	var agent string
	return agentFlag(&cobra.Command{
		Use: "call NAME [JSON]", Short: "Run a tool with arguments as a JSON object", Args: console.Between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := api.ToolRequest{Name: args[0], Run: api.ToolRun{Agent: agent, Args: json.RawMessage(append(args, "{}")[1])}}
			if !json.Valid(q.Run.Args) {
				return chela.E(chela.Invalid, "the arguments are not JSON").
					WithHint(`write them as '{"name": "value"}' (chela tools info ` + terminal.OneLine(q.Name, 40) + " shows which)")
			}
			return c.open(cmd.Context(), func(_ *config.Config, b *Backend) error { return c.callTool(cmd.Context(), b, q) })
		},
	}, &agent)
}

// callTool runs a tool and prints its result. A failure of the tool is an error.
func (c *commands) callTool(ctx context.Context, b *Backend, q api.ToolRequest) error {
	if _, err := toolNamed(ctx, b, q.Run.Agent, q.Name); err != nil {
		return err
	}
	within, release := c.Interruptible(ctx)
	defer release()
	result, err := api.Call(within, b.API, api.ToolsRun, q)
	if chela.KindOf(err) == chela.Invalid && chela.HintOf(err) == "" {
		err = chela.E(chela.Invalid, chela.MessageOf(err)).WithHint("see chela tools info " + q.Name).Because(err)
	}
	if err != nil {
		return err
	}
	if c.p.JSON {
		err = c.p.Document(result)
	} else {
		c.p.Line(result.Text)
	}
	if err == nil && result.Failed {
		err = chela.E(chela.Unavailable, terminal.OneLine(q.Name, 40)+" could not do it").WithHint("see what it says")
	}
	return err
}
