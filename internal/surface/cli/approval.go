package cli

// This part of the package holds the commands for approvals and standing
// answers.

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/engine/approval"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

const hint = "see chela approvals list --all"

// ApprovalAPI is the interface that the commands need of an open home.
type ApprovalAPI struct {
	// Approvals returns the approvals in a state, oldest first; with an empty
	// state all.
	Approvals func(ctx context.Context, state chela.ApprovalState) ([]chela.Approval, error)
	Approval  func(ctx context.Context, id chela.ApprovalID) (chela.Approval, error)

	// Answer answers an approval. It is a Conflict if it was already answered,
	// and Invalid if a pattern does not cover the call.
	Answer func(ctx context.Context, r approval.Reply) (chela.Approval, error)

	// Follow shows the rest of a turn, and asks about its further approvals as
	// chela ask does.
	Follow func(ctx context.Context, id chela.TurnID) error

	// Grants returns all standing answers, oldest first.
	Grants func(ctx context.Context) ([]chela.Grant, error)

	// Revoke removes a standing answer, or is NotFound.
	Revoke func(ctx context.Context, id chela.GrantID) error
}

// A approvalRunFunc is the body of a command, run with an open home.
type approvalRunFunc func(ctx context.Context, h ApprovalAPI, args []string) error

// approvalInFunc returns the cobra function that opens a home and runs f.
type approvalInFunc func(f approvalRunFunc) func(*cobra.Command, []string) error

// newApprovalCommand returns the commands. They write to p.
func newApprovalCommand(p *manners.Printer, in approvalInFunc) *cobra.Command {
	c := approvalCommands{p: p, in: in}
	var all bool
	listing := &cobra.Command{
		Use: "list", Short: "List the approvals that wait for an answer", Args: manners.Exactly(0),
		RunE: in(func(ctx context.Context, h ApprovalAPI, _ []string) error { return c.list(ctx, h, all) }),
	}
	listing.Flags().BoolVar(&all, "all", false, "those that were answered too")
	show := &cobra.Command{
		Use: "show ID", Short: "Show an approval and its call", Args: manners.Exactly(1),
		RunE: in(func(ctx context.Context, h ApprovalAPI, args []string) error {
			return c.show(ctx, h, chela.ApprovalID(args[0]))
		}),
	}
	return manners.Group("approvals", "Look at approvals and answer them", listing, show, c.yes(), c.no(), c.grants(), c.revoke())
}

type approvalCommands struct {
	p  *manners.Printer
	in approvalInFunc
}

func (c approvalCommands) yes() *cobra.Command {
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
			return c.answer(r)(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&always, "always", false, "also allow, for the rest of the session, the pattern that show lists under always")
	cmd.Flags().StringVar(&pattern, "pattern", "", "allow whatever it names, until that is revoked; * stands for any text")
	return cmd
}

func (c approvalCommands) no() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "no ID", Short: "Refuse it, and see its turn to the end", Args: manners.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.answer(approval.Reply{ID: chela.ApprovalID(args[0]), Answer: chela.AnswerNo, Comment: reason})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "reason for the model")
	return cmd
}

func (c approvalCommands) list(ctx context.Context, h ApprovalAPI, all bool) error {
	state := chela.ApprovalPending
	if all {
		state = ""
	}
	found, err := h.Approvals(ctx, state)
	if err != nil {
		return err
	}
	head := []string{"APPROVAL", "STATE", "TOOL", "PREVIEW", "SESSION", "EXPIRES"}
	return manners.List(c.p, found, head, func(a chela.Approval) []string {
		return []string{
			string(a.ID), string(a.State), a.Tool, terminal.OneLine(a.Preview, 60), string(a.Session), c.p.Moment(a.ExpiresAt),
		}
	})
}

func (c approvalCommands) show(ctx context.Context, h ApprovalAPI, id chela.ApprovalID) error {
	a, err := h.Approval(ctx, id)
	if err != nil {
		return manners.NotThere(err, hint)
	}
	if c.p.JSON {
		return c.p.Document(a)
	}
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

// answer returns the body of a command that answers an approval and follows its
// turn.
func (c approvalCommands) answer(reply approval.Reply) func(*cobra.Command, []string) error {
	reply.By = "owner with chela approvals"
	return c.in(func(ctx context.Context, h ApprovalAPI, _ []string) error {
		a, err := h.Answer(ctx, reply)
		if err != nil {
			return manners.NotThere(err, hint)
		}
		return h.Follow(ctx, a.Turn)
	})
}
