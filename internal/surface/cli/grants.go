package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

func (c approvalCommands) grants() *cobra.Command {
	return &cobra.Command{
		Use: "grants", Short: "List grants: calls that are allowed without asking", Args: manners.Exactly(0),
		RunE: c.in(func(ctx context.Context, h ApprovalAPI, _ []string) error {
			found, err := h.Grants(ctx)
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

func (c approvalCommands) revoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke GRANT", Short: "Revoke a grant", Args: manners.Exactly(1),
		RunE: c.in(func(ctx context.Context, h ApprovalAPI, args []string) error {
			return manners.NotThere(h.Revoke(ctx, chela.GrantID(args[0])), "see chela approvals grants")
		}),
	}
}
