package openai

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/command/grammar"
	"chela/internal/gateway/openai/wire"
)

// instructed marks what the client's developer says to the agent, which reads
// it as part of a message.
const instructed = "Instructions from the client:\n"

// A visit is a request for an agent, with what it brings beside its body.
type visit struct {
	*wire.Request
	agent   string // the one that the model names; empty: the session's
	session string // a key, or a word
	key     string // the same one is accepted once
	origin  chela.Origin
}

func (a *API) visit(q *wire.Request, agent string, r *http.Request) *visit {
	session := strings.TrimSpace(r.Header.Get(api.SessionHeader))
	return &visit{
		Request: q, agent: agent, session: cmp.Or(session, q.User), key: r.Header.Get(api.MessageIDHeader), origin: a.cfg.Origin(r),
	}
}

// message makes the message that a request for an agent is.
func (a *API) message(ctx context.Context, v *visit) (chela.Inbound, error) {
	at := v.Fresh()
	before, now := v.Said[:at], v.Said[at:]
	if len(now) == 0 {
		return chela.Inbound{}, wire.Wrong("messages", "the last one must be from the user, or the result of a tool")
	}
	in := chela.Inbound{Agent: v.agent, Origin: v.origin, MessageID: v.key, Offers: v.Offers}
	if err := a.addResults(ctx, &in, now); err != nil {
		return in, err
	}
	answering, err := a.place(ctx, &in, v, before)
	if err != nil {
		return in, err
	}
	if in.Session == "" {
		if in.Session, err = a.ownSession(v); err == nil {
			in.History, err = a.history(ctx, before)
		}
	}
	if err != nil {
		return in, err
	}
	if in.Agent, err = a.agentOf(in.Session, v.agent); err != nil {
		return in, err
	}
	if err := a.addText(ctx, &in, arranged(now, answering)); err != nil {
		return in, err
	}
	in.MessageID = cmp.Or(in.MessageID, resultsID(in.Results), string(a.cfg.IDs.Inbox()))
	return in, nil
}

// addResults adds what calls of offered tools came to. They name the place of
// the message: they all belong to one turn.
func (a *API) addResults(ctx context.Context, in *chela.Inbound, now []wire.Said) error {
	var turn chela.TurnID
	for _, s := range now {
		if s.Role != wire.RoleTool {
			continue
		}
		call, err := a.cfg.Turns.Called(ctx, chela.CallID(s.Ref))
		switch {
		case chela.KindOf(err) == chela.NotFound:
			return wire.Wrong(s.Param, fmt.Sprintf("there is no call %.40q that waits for a result", s.Ref))
		case err != nil:
			return err
		case turn != "" && call.Turn != turn:
			return wire.Wrong(s.Param, "belongs to another turn than the result before it")
		case len(s.Files) > 0:
			return wire.Unsupported(s.Param, "a result is text only")
		}
		turn, in.Session, in.Thread = call.Turn, call.Session, call.Thread
		in.Results = append(in.Results, chela.OfferResult{Call: call.ID, Text: s.Text})
	}
	return nil
}

// resultsID names a message by the results that it brings, so that a client
// may send them again when it missed the answer.
func resultsID(results []chela.OfferResult) string {
	if len(results) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, r := range results {
		fmt.Fprintf(sum, "%s %d %s", r.Call, len(r.Text), r.Text)
	}
	return "results-" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// place finds the session and thread that a message goes to, if it names one
// in any way. It reports whether that thread waits for an answer of a person.
func (a *API) place(ctx context.Context, in *chela.Inbound, v *visit, before []wire.Said) (answering bool, err error) {
	switch {
	case in.Session != "": // of the results
		return false, nil
	case v.Previous != "":
		t, err := a.turnOf(ctx, v.Previous)
		in.Session, in.Thread = t.Turn.Session, t.Turn.Thread
		return pending(t) != nil, err
	case v.session != "":
		in.Session, err = sessionKey(v)
		return false, err
	case len(before) > 0:
		asked, ok, err := a.asked(ctx, before[len(before)-1].Text)
		if ok {
			in.Session, in.Thread = asked.Session, asked.Thread
		}
		return ok, err
	default:
		return false, nil
	}
}

// turnOf returns the turn that a response came from. Of the answer to a command,
// which had none, only session and thread are set.
func (a *API) turnOf(ctx context.Context, response string) (api.Trace, error) {
	missing := wire.Refuse("previous_response_id", "previous_response_not_found",
		chela.E(chela.NotFound, fmt.Sprintf("there is no response %.40q", response)))
	id, of, ok := named(response)
	if !ok {
		return api.Trace{}, missing
	}
	t, err := a.cfg.Turns.Said(ctx, id)
	if chela.KindOf(err) != chela.NotFound {
		return t, err
	}
	thread, err := a.cfg.Threads.Thread(ctx, of)
	if chela.KindOf(err) == chela.NotFound {
		err = missing
	}
	return api.Trace{Turn: chela.Turn{Session: thread.Session, Thread: thread.ID}}, err
}

// sessionKey returns the session that a request names: by its key, or by a
// word.
func sessionKey(v *visit) (chela.SessionKey, error) {
	key := chela.SessionKey(v.session)
	if _, err := chela.ParseSessionKey(key); err == nil {
		return key, nil
	}
	return wordKey(v, v.session)
}

// ownSession returns a session for this request alone. The same idempotency
// key names the same one.
func (a *API) ownSession(v *visit) (chela.SessionKey, error) {
	if v.key != "" {
		sum := sha256.Sum256([]byte(v.origin.Account + "\x00" + v.key))
		return wordKey(v, "key-"+hex.EncodeToString(sum[:16]))
	}
	return wordKey(v, suffix(string(a.cfg.IDs.Inbox())))
}

func wordKey(v *visit, word string) (chela.SessionKey, error) {
	key := chela.Key{Kind: chela.KeyDirect, Agent: cmp.Or(v.agent, chela.MainAgent), Channel: api.Channel, ID: word}.Session()
	if _, err := chela.ParseSessionKey(key); err != nil {
		return "", wire.Wrong("user", "cannot name a session; use a short word, or a session key")
	}
	return key, nil
}

// agentOf returns the agent of a session, which the model must not contradict.
func (a *API) agentOf(session chela.SessionKey, asked string) (string, error) {
	key, err := chela.ParseSessionKey(session)
	if err != nil {
		return "", err
	}
	if asked != "" && key.Agent != "" && key.Agent != asked {
		return "", wire.Wrong("model", "the session belongs to agent "+key.Agent)
	}
	return cmp.Or(key.Agent, asked, chela.MainAgent), nil
}

// arranged returns what is new as it goes into the text. An answer to a question
// and a command are the bare words of the user; directives come first.
func arranged(now []wire.Said, answering bool) []wire.Said {
	var text string
	for _, s := range now {
		if s.Role == wire.RoleUser {
			text = wire.Join(text, s.Text)
		}
	}
	isUser := func(s wire.Said) bool { return s.Role == wire.RoleUser }
	said := slices.DeleteFunc(slices.Clone(now), func(s wire.Said) bool { return !isUser(s) })
	if answering {
		return said
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "/") {
		return now
	}
	switch p, err := grammar.Parse(text); {
	case err != nil, p.Text == "":
		return said
	case len(p.Directives) > 0:
		return append(said, slices.DeleteFunc(slices.Clone(now), isUser)...)
	default:
		return now
	}
}

// addText adds the words and files of a message.
func (a *API) addText(ctx context.Context, in *chela.Inbound, now []wire.Said) error {
	for _, s := range now {
		switch s.Role {
		case wire.RoleSystem:
			in.Text = wire.Join(in.Text, instructed+s.Text)
		case wire.RoleUser:
			in.Text = wire.Join(in.Text, s.Text)
		}
		files, err := a.attach(ctx, s)
		if err != nil {
			return err
		}
		in.Attachments = append(in.Attachments, files...)
	}
	return nil
}

func (a *API) attach(ctx context.Context, s wire.Said) ([]chela.Attachment, error) {
	var kept []chela.Attachment
	for _, f := range s.Files {
		one, err := a.cfg.Attach(ctx, f.Name, bytes.NewReader(f.Content))
		if err != nil {
			return nil, wire.Refuse(s.Param, "", err)
		}
		kept = append(kept, one)
	}
	return kept, nil
}

// history returns what was said before, as far as a thread can begin with it:
// calls of tools and their results become text.
func (a *API) history(ctx context.Context, before []wire.Said) ([]chela.Message, error) {
	calls := map[string]chela.CallSpec{}
	messages := make([]chela.Message, 0, len(before))
	for _, s := range before {
		m := chela.Message{Role: chela.RoleUser, Text: s.Text}
		switch s.Role {
		case wire.RoleSystem:
			m.Text = instructed + s.Text
		case wire.RoleAssistant:
			m.Role = chela.RoleAssistant
		case wire.RoleTool:
			c := calls[s.Ref]
			m.Text = strings.TrimSpace(fmt.Sprintf("Result of tool %s %s", c.Tool, wire.Arguments(c))) + ":\n" + s.Text
		}
		for _, c := range s.Calls {
			calls[c.Ref] = c
		}
		var err error
		if m.Attachments, err = a.attach(ctx, s); err != nil {
			return nil, err
		}
		if m.Text != "" || len(m.Attachments) > 0 {
			messages = append(messages, m)
		}
	}
	return messages, nil
}
