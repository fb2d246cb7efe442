package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/engine/approval"
	"chela/internal/engine/lane"
	"chela/internal/platform/excerpt"
	"chela/internal/store"
)

// approve approves a question, lists questions and standing answers, or revokes
// a standing answer.
func (i *Interpreter) approve(ctx context.Context, g given) (lane.Command, error) {
	word, rest := CutWord(g.args)
	switch strings.ToLower(word) {
	case "list":
		return i.listApprovals(ctx, g)
	case "revoke":
		return i.revoke(ctx, chela.GrantID(strings.TrimSpace(rest)))
	}
	name, rest := named(g.args)
	said := approval.Reply{Answer: chela.AnswerOnce}
	word, rest = CutWord(rest)
	switch pattern := strings.TrimSpace(rest); {
	case word == "":
	case !strings.EqualFold(word, "always"):
		return nil, chela.E(chela.Invalid, Quoted(word)+" cannot follow the id").WithHint("write /approve ID, or /approve ID always, or /approve ID always PATTERN")
	case pattern != "":
		said.Answer, said.Pattern = chela.AnswerPattern, pattern
	default:
		said.Answer = chela.AnswerSession
	}
	return i.answer(ctx, g, name, said), nil
}

// deny denies a question.
func (i *Interpreter) deny(ctx context.Context, g given) (lane.Command, error) {
	name, reason := named(g.args)
	return i.answer(ctx, g, name, approval.Reply{Answer: chela.AnswerNo, Comment: strings.TrimSpace(reason)}), nil
}

// named splits the id or handle of a question off the arguments, if they begin
// with one.
func named(args string) (name, rest string) {
	if word, rest := CutWord(args); approval.IsName(word) {
		return word, rest
	}
	return "", args
}

// answer is the order that answers a question: the named question, or else the
// only question that this chat has shown.
func (i *Interpreter) answer(ctx context.Context, g given, name string, said approval.Reply) lane.Command {
	said.By = g.by()
	return func(w *store.Write, _ *store.Arrival) (lane.Outcome, error) {
		said := said
		asked, err := g.question(ctx, w, name, said.Answer)
		if err != nil {
			return lane.Outcome{}, err
		}
		said.ID = asked
		a, events, err := i.cfg.Approvals.AnswerIn(ctx, w, said)
		return lane.Outcome{
			Reply: answered(a, said), Events: events, Then: func(ctx context.Context) { i.cfg.Approvals.Wake(ctx, a.Session) },
		}, err
	}
}

// question returns the question that an answer is for. An id names any
// question; if it is not pending, the error gives its state. A handle or no
// name selects from the pending questions, in a group from its own session's
// only.
func (g given) question(ctx context.Context, w *store.Write, name string, answer chela.Answer) (chela.ApprovalID, error) {
	if strings.HasPrefix(name, "apr_") {
		return chela.ApprovalID(name), nil
	}
	var within chela.SessionKey
	if g.inGroup() {
		within = g.Session
	}
	asked, err := w.PendingApprovals(ctx, within)
	if err != nil {
		return "", err
	}
	a, err := approval.Find(asked, g.Inbound, name, answer)
	if err == nil {
		return a.ID, nil
	}
	hint := "see /approve list"
	if len(asked) > 0 {
		hint = fmt.Sprintf("name one, as /%s %s; these wait: %s", g.form.Name, asked[0].Handle(), questionLines(asked))
	}
	return "", chela.E(chela.KindOf(err), chela.MessageOf(err)).WithHint(hint)
}

// maxQuestions limits the list of questions to choose from.
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

// answered reports the answer to a question, and its scope.
func answered(a chela.Approval, said approval.Reply) string {
	switch text := "Allowed: " + questionLine(a) + "."; said.Answer {
	case chela.AnswerNo:
		return "Refused: " + questionLine(a) + "."
	case chela.AnswerSession:
		return text + " Not asked about any more in this session: " + a.Always() + "."
	case chela.AnswerPattern:
		return text + " " + cmp.Or(said.Pattern, "Exactly this") + " is not asked about any more; /approve list shows how to take that back."
	default:
		return text
	}
}

// questionLine is a question as a line.
func questionLine(a chela.Approval) string {
	preview, _, _ := strings.Cut(strings.TrimSpace(a.Preview), "\n")
	return fmt.Sprintf("%s %s %s %s", a.ID, a.Handle(), a.Tool, excerpt.Runes(preview, 100))
}

// listApprovals shows all pending questions, and all standing answers: in a
// group only its own session's, because other sessions are private.
func (i *Interpreter) listApprovals(ctx context.Context, g given) (lane.Command, error) {
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
			always := a.Always()
			if always != "" {
				always = "; always would allow " + always
			}
			l.add("waits", "%s in %s%s", questionLine(a), a.Session, always)
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
	what, where := g.Offer(), "agent "+g.Agent
	if g.Session != "" {
		where = string(g.Session)
	}
	return fmt.Sprintf("%s: %s, in %s", g.Tool, what, where)
}

// revoke is the order that revokes a standing answer.
func (i *Interpreter) revoke(ctx context.Context, id chela.GrantID) (lane.Command, error) {
	if id == "" {
		return nil, chela.E(chela.Invalid, "no standing answer is named").WithHint("see /approve list")
	}
	return func(w *store.Write, _ *store.Arrival) (lane.Outcome, error) {
		return lane.Outcome{Reply: string(id) + " does not hold any more."}, w.RevokeGrant(ctx, id)
	}, nil
}
