package agents

// This part of the package tests models: whether they can be reached with the
// configured key, stream, and call tools.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/model/catalogue"
	"chela/internal/model/provider"
)

// timeout limits each request.
const timeout = time.Minute

// maxTokens of a response leave a model room to reason before its first word.
const maxTokens = 2048

// A TrialSubject is a model under test.
type TrialSubject struct {
	Model chela.Model      // its known properties
	Name  string           // its name at the provider
	Keys  []chela.Provider // asked once for each test, with each key; none if the model is unavailable
	Err   error            // why it is unavailable
}

// names are the checks in order.
var names = []api.CheckName{api.CheckReachable, api.CheckKey, api.CheckStreams, api.CheckTools, api.CheckPrice}

// A trialReport is a trial in progress.
type trialReport struct {
	subject TrialSubject
	trial   api.Trial
}

// TryModel tests a model with two short requests, and each further key with one. It
// fails only with ctx's error: problems of the model are in the trial.
func TryModel(ctx context.Context, s TrialSubject, now func() time.Time) (api.Trial, error) {
	r := &trialReport{subject: s, trial: api.Trial{Model: s.Model.Provider + "/" + s.Model.Name}}
	for _, name := range names {
		r.trial.Checks = append(r.trial.Checks, api.Check{Name: name, State: api.CheckUntried})
	}
	r.price()
	if s.Err != nil {
		r.refused(s.Err)
		return r.trial, nil
	}
	began := now()
	if r.greet(ctx) {
		r.call(ctx)
	}
	r.further(ctx)
	r.trial.MS = now().Sub(began).Milliseconds()
	return r.trial, ctx.Err()
}

// set records the result of a check.
func (r *trialReport) set(name api.CheckName, state api.CheckState, text, cure string) {
	for i := range r.trial.Checks {
		if c := &r.trial.Checks[i]; c.Name == name {
			c.State, c.Text, c.Cure = state, text, cure
		}
	}
}

// further tests each key but the first, which has a check of its own. It is
// skipped if the provider was unreachable, or a limit of chela itself was
// reached.
func (r *trialReport) further(ctx context.Context) {
	if len(r.subject.Keys) < 2 {
		return
	}
	at := slices.IndexFunc(r.trial.Checks, func(c api.Check) bool { return c.Name == api.CheckKey })
	r.trial.Checks[at].Nth = 1
	for i, key := range r.subject.Keys[1:] {
		c := api.Check{Name: api.CheckKey, Nth: i + 2, State: api.CheckUntried}
		if r.trial.Check(api.CheckReachable).State == api.CheckPassed {
			c = r.checkKey(ctx, key, c)
		}
		r.trial.Checks = slices.Insert(r.trial.Checks, at+1+i, c)
	}
}

// checkKey tests a key with a one-word request and returns the check.
func (r *trialReport) checkKey(ctx context.Context, key chela.Provider, c api.Check) api.Check {
	_, _, err := r.ask(ctx, key, greeting())
	switch {
	case limited(err):
		c.Text, c.Cure = worded(err), chela.HintOf(err)
	case err != nil:
		c.State, c.Text, c.Cure = api.CheckFailed, chela.MessageOf(err), fmt.Sprintf("check providers.%s.keys", r.subject.Model.Provider)
	default:
		c.State = api.CheckPassed
	}
	return c
}

// limited reports whether a limit of the home refused a request, which says
// nothing about the model.
func limited(err error) bool {
	e, ok := errors.AsType[*chela.Error](err)
	return ok && e.Limit != ""
}

// worded is the displayable form of an error, without its hint.
func worded(err error) string {
	return strings.TrimSuffix(chela.MessageOf(err), "; "+chela.HintOf(err))
}

func (r *trialReport) pass(name api.CheckName) { r.set(name, api.CheckPassed, "", "") }

func (r *trialReport) fail(name api.CheckName, text, cure string) {
	r.set(name, api.CheckFailed, text, cure)
}

func (r *trialReport) price() {
	if m := r.subject.Model; m.Price == nil || m.Sources[catalogue.FieldPrice] == Assumed {
		text := "its price is not known"
		if m.Price != nil {
			text = Assumption(m) + " is assumed"
		}
		r.fail(api.CheckPrice, text, UnknownModelHint(r.trial.Model))
		return
	}
	r.pass(api.CheckPrice)
}

// greeting asks for a word.
func greeting() *chela.Request {
	return &chela.Request{
		System: "Answer with one word.", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}},
	}
}

// greet asks for a word, and reports whether it came.
func (r *trialReport) greet(ctx context.Context) bool {
	pieces, _, err := r.ask(ctx, r.subject.Keys[0], greeting())
	if err != nil {
		r.refused(err)
		return false
	}
	r.pass(api.CheckReachable)
	r.pass(api.CheckKey)
	if pieces == 0 {
		r.fail(api.CheckStreams, "no text came before the end of the answer", "check that the server, or a proxy before it, streams")
		return true
	}
	r.pass(api.CheckStreams)
	return true
}

// call tests a tool call.
func (r *trialReport) call(ctx context.Context) {
	cure := "use another model for work with tools: chela config set model PROVIDER/MODEL"
	_, end, err := r.ask(ctx, r.subject.Keys[0], &chela.Request{
		System:   "You have a tool named calc. Use it for every calculation.",
		Messages: []chela.Message{{Role: chela.RoleUser, Text: "calculate 6 * 7"}},
		Tools: []chela.ToolSpec{{
			Name: "calc", Description: "Calculate the value of an expression.",
			Input: json.RawMessage(`{"type":"object","properties":{"expression":{"type":"string","description":"such as 2 + 3"}},"required":["expression"],"additionalProperties":false}`),
		}},
	})
	switch {
	case limited(err):
		r.set(api.CheckTools, api.CheckUntried, worded(err), chela.HintOf(err))
		return
	case err != nil:
		r.fail(api.CheckTools, chela.MessageOf(err), cure)
		return
	}
	for _, c := range end.Calls {
		var args struct{ Expression string }
		if c.Tool == "calc" && json.Unmarshal(c.Args, &args) == nil && args.Expression != "" {
			r.pass(api.CheckTools)
			return
		}
	}
	if len(end.Calls) > 0 {
		r.fail(api.CheckTools, fmt.Sprintf("it called %.40q with arguments that the tool does not accept", end.Calls[0].Tool), cure)
		return
	}
	r.fail(api.CheckTools, "it answered without calling the tool that it was told to use", cure)
}

// ask performs one request with a key. It returns the number of pieces of text
// or reasoning before the end.
func (r *trialReport) ask(ctx context.Context, key chela.Provider, req *chela.Request) (pieces int, end chela.Finish, err error) {
	req.Model, req.MaxTokens = r.subject.Name, maxTokens
	req.Payer.Purpose = "test"
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for chunk, err := range key.Stream(within, req) {
		switch {
		case err != nil:
			return pieces, end, err
		case chunk.Finish != nil:
			end = *chunk.Finish
		case chunk.Unseen == 0:
			pieces++
		}
	}
	u, all := end.Usage, &r.trial.Tokens
	all.Input, all.Output, all.CacheRead = all.Input+u.Input, all.Output+u.Output, all.CacheRead+u.CacheRead
	all.CacheWrite, all.Reasoning = all.CacheWrite+u.CacheWrite, all.Reasoning+u.Reasoning
	return pieces, end, nil
}

// refused derives from an error how far the first request got.
func (r *trialReport) refused(err error) {
	service := r.subject.Model.Provider
	text := worded(err)
	of, asked := errors.AsType[*chela.ProviderError](err)
	kind := chela.KindOf(err)
	switch {
	case limited(err):
		r.set(api.CheckReachable, api.CheckUntried, text, chela.HintOf(err))
	case errors.Is(err, context.DeadlineExceeded):
		r.fail(api.CheckReachable, fmt.Sprintf("no answer came within %s", timeout), "check that the server is up and not overloaded")
	case asked && of.Status == 0 && kind == chela.Unavailable && !of.Cut:
		r.fail(api.CheckReachable, text, provider.Remedy(of))
	case kind == chela.Denied:
		hint := chela.HintOf(err)
		if asked {
			r.pass(api.CheckReachable)
			hint = ""
		}
		r.fail(api.CheckKey, text, cmp.Or(hint, provider.Remedy(&chela.ProviderError{Provider: service, Kind: kind})))
	case !asked:
		r.fail(api.CheckReachable, text, chela.HintOf(err))
	default:
		r.pass(api.CheckReachable)
		r.pass(api.CheckKey)
		r.fail(api.CheckStreams, text, cmp.Or(provider.Remedy(of), fmt.Sprintf("look at [providers.%s]: its kind may not match the server's protocol", service)))
	}
}
