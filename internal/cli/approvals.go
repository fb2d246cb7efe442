package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/approval"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
	"chela/internal/config"
)

const approvalHint = "see chela approvals list --all"

func (c *commands) approvalsCommand() *cobra.Command {
	var all bool
	listing := &cobra.Command{
		Use: "list", Short: "List the approvals that wait for an answer", Args: manners.Exactly(0),
		RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error { return c.approvalsList(ctx, b, all) }),
	}
	listing.Flags().BoolVar(&all, "all", false, "those that were answered too")
	show := &cobra.Command{
		Use: "show ID", Short: "Show what would happen", Args: manners.Exactly(1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			return c.approvalShow(ctx, b, chela.ApprovalID(args[0]))
		}),
	}
	return manners.Group("approvals", "Look at approvals and answer them", listing, show,
		c.yesCommand(), c.noCommand(), c.grantsCommand(), c.revokeCommand())
}

func (c *commands) yesCommand() *cobra.Command {
	var always bool
	var pattern string
	cmd := &cobra.Command{
		Use: "yes ID", Short: "Allow it, and see its turn to the end", Args: manners.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := approval.Reply{ID: chela.ApprovalID(args[0]), Answer: chela.AnswerOnce, Pattern: pattern}
			if always && pattern != "" {
				return chela.E(chela.Invalid, "--always and --pattern exclude each other").WithHint("use one of them")
			} else if always {
				r.Answer = chela.AnswerSession
			} else if pattern != "" {
				r.Answer = chela.AnswerPattern
			}
			return c.answer(cmd.Context(), r)
		},
	}
	cmd.Flags().BoolVar(&always, "always", false, "allow the tool for the rest of the session")
	cmd.Flags().StringVar(&pattern, "pattern", "", "allow whatever it names, until that is revoked; * stands for any text")
	return cmd
}

func (c *commands) noCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "no ID", Short: "Refuse it, and see its turn to the end", Args: manners.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.answer(cmd.Context(), approval.Reply{ID: chela.ApprovalID(args[0]), Answer: chela.AnswerNo, Comment: reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "what to tell the model")
	return cmd
}

func (c *commands) approvalsList(ctx context.Context, b *Backend, all bool) error {
	state := chela.ApprovalPending
	if all {
		state = ""
	}
	found, err := b.Approvals.Approvals(ctx, state)
	if err != nil {
		return err
	}
	head := []string{"APPROVAL", "STATE", "TOOL", "PREVIEW", "SESSION", "EXPIRES"}
	return manners.List(c.p, found, head, func(a chela.Approval) []string {
		return []string{
			string(a.ID), string(a.State), a.Tool, terminal.OneLine(a.Preview, 60), string(a.Session), terminal.Moment(a.ExpiresAt),
		}
	})
}

func (c *commands) approvalShow(ctx context.Context, b *Backend, id chela.ApprovalID) error {
	a, err := b.Approvals.Approval(ctx, id)
	if err != nil {
		return manners.NotThere(err, approvalHint)
	}
	if c.p.JSON {
		return c.p.Document(a)
	}
	c.p.Fields(
		[2]string{"approval", string(a.ID)}, [2]string{"state", string(a.State)}, [2]string{"tool", a.Tool},
		[2]string{"effect", string(a.Effect)}, [2]string{"reason", a.Reason},
		[2]string{"subjects", strings.Join(a.Subjects, ", ")},
		[2]string{"session", string(a.Session)}, [2]string{"turn", string(a.Turn)},
		[2]string{"answer", string(a.Answer)}, [2]string{"pattern", a.Pattern}, [2]string{"comment", a.Comment},
		[2]string{"answered by", a.AnsweredBy}, [2]string{"created", terminal.Moment(a.CreatedAt)},
		[2]string{"expires", terminal.Moment(a.ExpiresAt)}, [2]string{"answered", terminal.Moment(a.AnsweredAt)},
	)
	c.p.Line("\n" + a.Preview)
	return nil
}

// answer answers an approval and follows its turn. Further approvals of the
// turn are asked about as in chela ask.
func (c *commands) answer(ctx context.Context, reply approval.Reply) error {
	reply.By = "owner with chela approvals"
	return c.open(ctx, func(_ *config.Config, b *Backend) error {
		a, err := b.Approvals.Answer(ctx, reply)
		if err != nil {
			return manners.NotThere(err, approvalHint)
		}
		return c.person().Resume(ctx, talkHome(b), a.Turn)
	})
}
