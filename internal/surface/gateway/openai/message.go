package openai

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/safety"
	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai/wire"
)

// instructed marks the instructions of the client's developer, which the agent
// reads as part of a message.
const instructed = "Instructions from the client:\n"

// An agentRequest is a request for an agent, with its headers.
type agentRequest struct {
	*wire.Request
	agent   string // named by the model; empty: the session's
	session string // a key, or a word; empty for none
	param   string // field or header that names the session
	caller  api.Caller
	unused  []string // fields that have no effect on an agent
}

// newAgentRequest returns a request for an agent with its headers. Only the header and
// the field conversation name a session, and they must agree.
func newAgentRequest(w *edge.Visit, q *wire.Request, agent string) (*agentRequest, error) {
	v := &agentRequest{Request: q, agent: agent, caller: w.Caller()}
	v.session, v.param = strings.TrimSpace(w.Request.Header.Get(api.SessionHeader)), api.SessionHeader
	switch {
	case q.Conversation == "":
		return v, nil
	case v.session != "" && v.session != q.Conversation:
		return v, wire.Wrong("conversation", "names another session than the header "+api.SessionHeader)
	case q.Previous != "":
		return v, wire.Wrong("conversation", "cannot be given together with previous_response_id")
	}
	v.session, v.param = q.Conversation, "conversation"
	return v, nil
}

// message builds the message of a request for an agent. Its text is content:
// commands and directives in it are not parsed, whatever its role.
func (a *API) message(ctx context.Context, v *agentRequest) (chela.Inbound, error) {
	at := v.Fresh()
	before, now := v.Said[:at], v.Said[at:]
	if len(now) == 0 {
		return chela.Inbound{}, wire.Wrong("messages", "the last one must be from the user, or the result of a tool")
	}
	if err := checkSize(before, now); err != nil {
		return chela.Inbound{}, err
	}
	in := chela.Inbound{Agent: v.agent, Origin: v.caller.Origin, Scope: v.caller.Scope, Offers: v.Offers}
	in.Origin.Provenance = safety.Outside("a request of the program " + cmp.Or(in.Origin.Sender, in.Origin.Account, "without a name"))
	if err := a.addResults(ctx, &in, v, now); err != nil {
		return in, err
	}
	err := a.place(ctx, &in, v, before)
	if err == nil {
		err = a.show(ctx, &in, v, now)
	}
	if err != nil {
		return in, err
	}
	if err := v.mayUse(in.Session); err != nil {
		return in, err
	}
	if in.Session == "" {
		if in.Session, err = a.freshSession(v); err == nil {
			in.History, err = a.history(ctx, before)
		}
	}
	if err != nil {
		return in, err
	}
	if in.Agent, err = a.agentOf(in.Session, v.agent); err != nil {
		return in, err
	}
	if err := a.addText(ctx, &in, now); err != nil {
		return in, err
	}
	in.MessageID = cmp.Or(resultsID(in.Results), v.caller.Key, string(a.cfg.IDs.Inbox()))
	return in, nil
}

// addResults adds the results of offered tools. They determine the destination
// of the message: they all belong to one turn.
func (a *API) addResults(ctx context.Context, in *chela.Inbound, v *agentRequest, now []wire.Item) error {
	var turn chela.TurnID
	for _, s := range now {
		if s.Role != chela.RoleTool {
			continue
		}
		call, err := a.cfg.Turns.Call(ctx, chela.CallID(s.Ref))
		switch {
		case chela.KindOf(err) == chela.NotFound, err == nil && !v.reaches(call.Session):
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

// resultsID derives the message id from its results, so that a client may retry
// them when it missed the response.
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

// place finds the session and thread that a message is for, if it names one,
// and the question that the client was shown before.
func (a *API) place(ctx context.Context, in *chela.Inbound, v *agentRequest, before []wire.Item) error {
	switch {
	case in.Session != "": // of the results
		return nil
	case v.Previous != "":
		t, err := a.turnOf(ctx, v, v.Previous)
		in.Session, in.Thread = t.Turn.Session, t.Turn.Thread
		if asked := pending(t); asked != nil {
			in.Shown = []chela.ApprovalID{asked.ID}
		}
		return err
	case v.session != "":
		var err error
		in.Session, err = v.sessionKey()
		return err
	case len(before) > 0:
		asked, ok, err := a.asked(ctx, before[len(before)-1].Text)
		if ok && v.reaches(asked.Session) {
			in.Session, in.Thread, in.Shown = asked.Session, asked.Thread, []chela.ApprovalID{asked.ID}
		}
		return err
	default:
		return nil
	}
}

// turnOf returns the turn of a response. A response of a session out of the
// client's reach, or a deleted one, is NotFound.
func (a *API) turnOf(ctx context.Context, v *agentRequest, response string) (api.Trace, error) {
	id, ok := named(response)
	if !ok {
		return api.Trace{}, missing(response)
	}
	t, err := a.cfg.Turns.Output(ctx, id)
	if chela.KindOf(err) == chela.NotFound || err == nil && !v.reaches(t.Turn.Session) {
		err = missing(response)
	}
	if err != nil {
		return api.Trace{}, err
	}
	if deleted, err := a.cfg.Responses.ResponseDeleted(ctx, response); err != nil || deleted {
		return api.Trace{}, cmp.Or(err, missing(response))
	}
	return t, nil
}

// missing is the error for a response that the client cannot see.
func missing(response string) error {
	return wire.Refuse("previous_response_id", "previous_response_not_found", chela.E(chela.NotFound, fmt.Sprintf("there is no response %.40q", response)))
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

// addText adds the text and files of a message. An answer to a question that
// the client was shown is the user's text alone.
func (a *API) addText(ctx context.Context, in *chela.Inbound, now []wire.Item) error {
	if len(in.Shown) > 0 {
		now = ofUser(now)
	}
	var texts wire.TextBuilder
	for _, s := range now {
		switch s.Role {
		case wire.RoleSystem:
			texts.Add(instructed + s.Text)
		case chela.RoleUser:
			texts.Add(s.Text)
		}
		files, err := a.attach(ctx, s)
		if err != nil {
			return err
		}
		in.Attachments = append(in.Attachments, files...)
	}
	in.Text = texts.String()
	return nil
}

func (a *API) attach(ctx context.Context, s wire.Item) ([]chela.Attachment, error) {
	var kept []chela.Attachment
	for _, f := range s.Files {
		f, err := a.fetched(ctx, f)
		if err != nil {
			return nil, err
		}
		one, err := a.cfg.Files.Attach(ctx, f.Name, bytes.NewReader(f.Content))
		if err != nil {
			return nil, wire.Refuse(s.Param, "", err)
		}
		kept = append(kept, one)
	}
	return kept, nil
}

// history converts earlier messages to the history of a thread: calls of tools
// and their results become text.
func (a *API) history(ctx context.Context, before []wire.Item) ([]chela.Message, error) {
	calls := map[string]chela.CallSpec{}
	messages := make([]chela.Message, 0, len(before))
	for _, s := range before {
		m := chela.Message{Role: chela.RoleUser, Text: s.Text}
		switch s.Role {
		case wire.RoleSystem:
			m.Text = instructed + s.Text
		case chela.RoleAssistant:
			m.Role = chela.RoleAssistant
		case chela.RoleTool:
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
