package command

import (
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/approval"
	"chela/internal/command/grammar"
	"chela/internal/excerpt"
	"chela/internal/lane"
	"chela/internal/store"
)

// approve says yes to a question, lists questions and standing answers, or takes
// a standing answer back.
func (i *Interpreter) approve(ctx context.Context, g given) (lane.Order, error) {
	word, rest := grammar.CutWord(g.args)
	switch strings.ToLower(word) {
	case "list":
		return i.listApprovals(ctx, g)
	case "revoke":
		return i.revoke(ctx, chela.GrantID(strings.TrimSpace(rest)))
	}
	id, rest := named(g.args)
	said := approval.Reply{ID: id, Answer: chela.AnswerOnce}
	word, rest = grammar.CutWord(rest)
	switch pattern := strings.TrimSpace(rest); {
	case word == "":
	case !strings.EqualFold(word, "always"):
		return nil, chela.E(chela.Invalid, grammar.Quoted(word)+" cannot follow the id").WithHint("write /approve ID, or /approve ID always, or /approve ID always PATTERN")
	case pattern != "":
		said.Answer, said.Pattern = chela.AnswerPattern, pattern
	default:
		said.Answer = chela.AnswerSession
	}
	return i.answer(ctx, g, said), nil
}

// deny says no to a question.
func (i *Interpreter) deny(ctx context.Context, g given) (lane.Order, error) {
	id, reason := named(g.args)
	return i.answer(ctx, g, approval.Reply{ID: id, Answer: chela.AnswerNo, Comment: strings.TrimSpace(reason)}), nil
}

// named parts the id of a question off arguments that begin with one.
func named(args string) (id chela.ApprovalID, rest string) {
	if word, rest := grammar.CutWord(args); strings.HasPrefix(word, "apr_") {
		return chela.ApprovalID(word), rest
	}
	return "", args
}

// answer is the order that answers a question: the one that is named, else the
// only one that waits.
func (i *Interpreter) answer(ctx context.Context, g given, said approval.Reply) lane.Order {
	said.By = "owner in " + g.Origin.Channel
	return func(w *store.Write, _ *store.Arrival) (lane.Outcome, error) {
		said := said
		if said.ID == "" {
			asked, err := onlyOne(ctx, w, g)
			if err != nil {
				return lane.Outcome{}, err
			}
			said.ID = asked
		}
		a, events, err := i.cfg.Desk.AnswerIn(ctx, w, said)
		return lane.Outcome{
			Reply: answered(a, said), Events: events, Then: func(ctx context.Context) { i.cfg.Desk.Wake(ctx, a.Session) },
		}, err
	}
}

// onlyOne returns the only question of a session that waits or, where the owner is
// alone and the session asks nothing, of the whole home: he was told of it here.
func onlyOne(ctx context.Context, w *store.Write, g given) (chela.ApprovalID, error) {
	asked, err := w.PendingApprovals(ctx, g.Session)
	where := " in this session"
	if err == nil && len(asked) == 0 && !g.inGroup() {
		where = ""
		asked, err = w.PendingApprovals(ctx, "")
	}
	switch n := len(asked); {
	case err != nil:
		return "", err
	case n == 0:
		return "", chela.E(chela.NotFound, "nothing waits for an answer"+where).WithHint("see /approve list")
	case n > 1:
		return "", chela.E(chela.Invalid, fmt.Sprintf("%d questions wait for an answer%s: %s", n, where, questionLines(asked))).
			WithHint("name one by its id, as /approve " + string(asked[0].ID))
	}
	return asked[0].ID, nil
}

// maxQuestions is how many questions are listed where one of them is to be named.
const maxQuestions = 10

func questionLines(asked []chela.Approval) string {
	var said []string
	for _, a := range asked[:min(maxQuestions, len(asked))] {
		said = append(said, questionLine(a)+" in "+string(a.Session))
	}
	if more := len(asked) - maxQuestions; more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(said, " · ")
}

// answered says what was answered to a question, and what that means.
func answered(a chela.Approval, said approval.Reply) string {
	switch text := "Allowed: " + questionLine(a) + "."; said.Answer {
	case chela.AnswerNo:
		return "Refused: " + questionLine(a) + "."
	case chela.AnswerSession:
		return text + " The tool is not asked about in this session any more, but for what is risky."
	case chela.AnswerPattern:
		return text + " " + said.Pattern + " is not asked about any more; /approve list shows how to take that back."
	default:
		return text
	}
}

// questionLine is a question as a line.
func questionLine(a chela.Approval) string {
	preview, _, _ := strings.Cut(strings.TrimSpace(a.Preview), "\n")
	return fmt.Sprintf("%s %s %s", a.ID, a.Tool, excerpt.Runes(preview, 100))
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
	return func(w *store.Write, _ *store.Arrival) (lane.Outcome, error) {
		return lane.Outcome{Reply: string(id) + " does not hold any more."}, w.RevokeGrant(ctx, id)
	}, nil
}
