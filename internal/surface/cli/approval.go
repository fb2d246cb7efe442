package cli

// This part of the package holds the commands on approvals.

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// approvalsCommand returns the commands on approvals and grants.
func (c *commands) approvalsCommand() *cobra.Command {
	return console.Group("approvals", "Look at approvals and answer them",
		c.approvalsList(), verb(c, api.ApprovalsShow, c.approval), c.approvalYes(), c.approvalNo(),
		named("grants", listing(c, api.GrantsList, grants)), verb(c, api.GrantsRevoke, nil))
}

var grants = table[chela.Grant]{
	head: []string{"GRANT", "AGENT", "TOOL", "PATTERN", "SESSION", "SINCE"},
	row: func(g chela.Grant) []string {
		pattern, session := g.Offer().String(), cmp.Or(string(g.Session), "(every one)")
		return []string{string(g.ID), g.Agent, g.Tool, terminal.OneLine(pattern, 60), session, terminal.Moment(g.CreatedAt)}
	},
}

func (c *commands) approvalYes() *cobra.Command {
	var always bool
	var pattern string
	cmd := &cobra.Command{
		Use: "yes ID", Short: "Allow it, and see its turn to the end", Args: console.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := api.Answer{Answer: chela.AnswerOnce, Pattern: pattern}
			if always && pattern != "" {
				return chela.E(chela.Invalid, "--always and --pattern exclude each other").WithHint("use one of them")
			} else if always {
				r.Answer = chela.AnswerSession
			} else if pattern != "" {
				r.Answer = chela.AnswerPattern
			}
			return c.approvalAnswer(r)(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&always, "always", false, "also allow, for the rest of the session, the pattern that show lists under always")
	cmd.Flags().StringVar(&pattern, "pattern", "", "allow whatever it names, until that is revoked; * stands for any text")
	return cmd
}

func (c *commands) approvalNo() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "no ID", Short: "Refuse it, and see its turn to the end", Args: console.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.approvalAnswer(api.Answer{Answer: chela.AnswerNo, Reason: reason})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "reason for the model")
	return cmd
}

func (c *commands) approvalsList() *cobra.Command {
	var all bool
	cmd := derived(c, api.ApprovalsList, func(ctx context.Context, b *Backend, f api.ApprovalFilter) error {
		if f.State == "" && !all {
			f.State = chela.ApprovalPending
		}
		found, err := api.All(ctx, b.API, api.ApprovalsList, f)
		if err != nil {
			return err
		}
		head := []string{"APPROVAL", "STATE", "TOOL", "PREVIEW", "SESSION", "EXPIRES"}
		return console.List(c.p, found, head, func(a chela.Approval) []string {
			return []string{
				string(a.ID), string(a.State), a.Tool, terminal.OneLine(a.Preview, 60), string(a.Session), c.p.Moment(a.ExpiresAt),
			}
		})
	})
	cmd.Short = "List the approvals that wait for an answer"
	cmd.Flags().BoolVar(&all, "all", false, "those that were answered too")
	return cmd
}

// approval writes an approval and its call for people.
func (c *commands) approval(a chela.Approval) error {
	c.p.Fields(
		[2]string{"approval", string(a.ID)}, [2]string{"state", string(a.State)}, [2]string{"tool", a.Tool},
		[2]string{"effect", string(a.Effect)}, [2]string{"reason", a.Reason},
		[2]string{"subjects", strings.Join(a.Subjects, ", ")}, [2]string{"always would allow", a.Always()},
		[2]string{"session", string(a.Session)}, [2]string{"turn", string(a.Turn)},
		[2]string{"answer", string(a.Answer)}, [2]string{"pattern", a.Pattern}, [2]string{"comment", a.Comment},
		[2]string{"answered by", a.AnsweredBy}, [2]string{"created", c.p.Moment(a.CreatedAt)},
		[2]string{"expires", c.p.Moment(a.ExpiresAt)}, [2]string{"answered", c.p.Moment(a.AnsweredAt)},
	)
	c.p.Line("\n" + a.Preview)
	return nil
}

// approvalAnswer returns the body of a command that answers an approval and follows
// its turn.
func (c *commands) approvalAnswer(said api.Answer) func(*cobra.Command, []string) error {
	said.By = "owner with chela approvals"
	return c.inHome(func(ctx context.Context, b *Backend, args []string) error {
		ref := api.ApprovalRef{ID: chela.ApprovalID(args[0])}
		a, err := api.Call(ctx, b.API, api.ApprovalsShow, ref)
		if err != nil {
			return console.NotThere(err, listHints["approvals"])
		}
		follow, stop := b.Conversation.Watch(ctx, a.Turn) // before the answer, so that no event is missed
		defer stop()
		if _, err := api.Call(ctx, b.API, api.ApprovalsAnswer, api.AnswerRequest{ApprovalRef: ref, Answer: said}); err != nil {
			return err
		}
		return c.person().Resume(ctx, b.Connection, a.Turn, follow)
	})
}
