package command

import (
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/approval"
	"chela/internal/lane"
	"chela/internal/store"
)

// approve says yes to a question, lists questions and standing answers, or takes
// a standing answer back.
func (i *Interpreter) approve(ctx context.Context, g given) (lane.Order, error) {
	word, rest := cutWord(g.args)
	switch strings.ToLower(word) {
	case "list":
		return i.listApprovals(ctx, g)
	case "revoke":
		return i.revoke(ctx, chela.GrantID(strings.TrimSpace(rest)))
	}
	asked, rest, err := i.asked(ctx, g)
	if err != nil {
		return nil, err
	}
	said := approval.Reply{ID: asked.ID, Answer: chela.AnswerOnce, By: "owner in " + g.Origin.Channel}
	word, rest = cutWord(rest)
	switch pattern := strings.TrimSpace(rest); {
	case word == "":
	case !strings.EqualFold(word, "always"):
		return nil, chela.E(chela.Invalid, quoted(word)+" cannot follow the id").WithHint("write /approve ID, or /approve ID always, or /approve ID always PATTERN")
	case pattern != "":
		said.Answer, said.Pattern = chela.AnswerPattern, pattern
	default:
		said.Answer = chela.AnswerSession
	}
	if _, err := i.cfg.Desk.Answer(ctx, said); err != nil {
		return nil, err
	}
	text := "Allowed: " + questionLine(asked) + "."
	switch said.Answer {
	case chela.AnswerSession:
		text += " The tool is not asked about in this session any more, but for what is risky."
	case chela.AnswerPattern:
		text += " " + said.Pattern + " is not asked about any more; /approve list shows how to take that back."
	}
	return reply(text), nil
}

// deny says no to a question.
func (i *Interpreter) deny(ctx context.Context, g given) (lane.Order, error) {
	asked, reason, err := i.asked(ctx, g)
	if err != nil {
		return nil, err
	}
	_, err = i.cfg.Desk.Answer(ctx, approval.Reply{
		ID: asked.ID, Answer: chela.AnswerNo, Comment: strings.TrimSpace(reason), By: "owner in " + g.Origin.Channel,
	})
	if err != nil {
		return nil, err
	}
	return reply("Refused: " + questionLine(asked) + "."), nil
}

// asked returns the question that is answered, and the rest of the arguments:
// the one whose id comes first, else the only one of the session that waits.
func (i *Interpreter) asked(ctx context.Context, g given) (a chela.Approval, rest string, err error) {
	word, rest := cutWord(g.args)
	if strings.HasPrefix(word, "apr_") {
		a, err = store.Find(ctx, i.store, func(r *store.Read) (chela.Approval, error) { return r.Approval(ctx, chela.ApprovalID(word)) })
		return a, rest, err
	}
	s, err := i.standing(ctx, g.Session)
	switch n := len(s.approvals); {
	case err != nil:
		return a, "", err
	case n == 0:
		return a, "", chela.E(chela.NotFound, "nothing waits for an answer in this session").WithHint("see /approve list")
	case n > 1:
		return a, "", chela.E(chela.Invalid, fmt.Sprintf("%d questions wait for an answer", n)).WithHint("name one by its id, as /approve list shows it")
	}
	return s.approvals[0], g.args, nil
}

// questionLine is a question as a line.
func questionLine(a chela.Approval) string {
	preview, _, _ := strings.Cut(strings.TrimSpace(a.Preview), "\n")
	if runes := []rune(preview); len(runes) > 100 {
		preview = string(runes[:99]) + "…"
	}
	return fmt.Sprintf("%s %s %s", a.ID, a.Tool, preview)
}

// listApprovals shows all questions that wait, and all standing answers: in a
// group those of its session alone, as what is done elsewhere is not its
// business.
func (i *Interpreter) listApprovals(ctx context.Context, g given) (lane.Order, error) {
	var l lines
	var only chela.SessionKey
	if g.inGroup() {
		only = g.Session
	}
	err := i.store.Read(ctx, func(r *store.Read) error {
		asked, err := r.PendingApprovals(ctx, only)
		if err != nil {
			return err
		}
		for _, a := range asked {
			l.add("waits", "%s in %s", questionLine(a), a.Session)
		}
		grants, err := r.Grants(ctx, "", only)
		for _, g := range grants {
			if only == "" || g.Session == only {
				l.add("allowed", "%s %s", g.ID, grantLine(g))
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(l) == 0 {
		return reply("Nothing waits for an answer, and nothing is allowed beforehand."), nil
	}
	return reply(strings.Join(append(l, "/approve revoke GRANT takes an answer back."), "\n")), nil
}

func grantLine(g chela.Grant) string {
	what, where := g.Pattern, "agent "+g.Agent
	if what == "" {
		what = "whatever is not risky"
	}
	if g.Session != "" {
		where = string(g.Session)
	}
	return fmt.Sprintf("%s: %s, in %s", g.Tool, what, where)
}

// revoke is the order that takes a standing answer back.
func (i *Interpreter) revoke(ctx context.Context, id chela.GrantID) (lane.Order, error) {
	if id == "" {
		return nil, chela.E(chela.Invalid, "no standing answer is named").WithHint("see /approve list")
	}
	return func(w *store.Write, _ *store.Arrival) (string, []chela.Event, error) {
		return string(id) + " does not hold any more.", nil, w.RevokeGrant(ctx, id)
	}, nil
}
