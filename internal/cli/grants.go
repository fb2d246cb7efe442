package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
)

func (c *commands) grantsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "grants", Short: "List what is allowed without asking, since you said so", Args: manners.Exactly(0),
		RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
			found, err := b.Grants.Grants(ctx)
			if err != nil {
				return err
			}
			return manners.List(c.p, found, []string{"GRANT", "AGENT", "TOOL", "PATTERN", "SESSION", "SINCE"}, func(g chela.Grant) []string {
				pattern, session := cmp.Or(g.Pattern, "(all but what is risky)"), cmp.Or(string(g.Session), "(every one)")
				return []string{string(g.ID), g.Agent, g.Tool, terminal.OneLine(pattern, 60), session, terminal.Moment(g.CreatedAt)}
			})
		}),
	}
}

func (c *commands) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke GRANT", Short: "Ask again about what a grant allows", Args: manners.Exactly(1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			return manners.NotThere(b.Grants.Revoke(ctx, chela.GrantID(args[0])), "see chela approvals grants")
		}),
	}
}
