package approvals

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
)

func (c commands) grants() *cobra.Command {
	return &cobra.Command{
		Use: "grants", Short: "List what is allowed without asking, since you said so", Args: manners.Exactly(0),
		RunE: c.in(func(ctx context.Context, h Home, _ []string) error {
			found, err := h.Grants(ctx)
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

func (c commands) revoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke GRANT", Short: "Ask again about what a grant allows", Args: manners.Exactly(1),
		RunE: c.in(func(ctx context.Context, h Home, args []string) error {
			return manners.NotThere(h.Revoke(ctx, chela.GrantID(args[0])), "see chela approvals grants")
		}),
	}
}
