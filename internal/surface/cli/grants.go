package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

func (c *commands) grantsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "grants", Short: "List grants: calls that are allowed without asking", Args: manners.Exactly(0),
		RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
			found, err := api.All(ctx, b.API, api.GrantsList, api.GrantsQuery{})
			if err != nil {
				return err
			}
			return manners.List(c.p, found, []string{"GRANT", "AGENT", "TOOL", "PATTERN", "SESSION", "SINCE"}, func(g chela.Grant) []string {
				pattern, session := g.Offer().String(), cmp.Or(string(g.Session), "(every one)")
				return []string{string(g.ID), g.Agent, g.Tool, terminal.OneLine(pattern, 60), session, terminal.Moment(g.CreatedAt)}
			})
		}),
	}
}

func (c *commands) grantRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke GRANT", Short: "Revoke a grant", Args: manners.Exactly(1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			_, err := api.Call(ctx, b.API, api.GrantsRevoke, api.GrantRef{ID: chela.GrantID(args[0])})
			return manners.NotThere(err, "see chela approvals grants")
		}),
	}
}
