// Package trial tries models out: whether they can be reached with the key there
// is, stream, and call tools.
package trial

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
	"chela/internal/app/known"
	"chela/internal/catalogue"
	"chela/internal/provider/cure"
)

// timeout bounds each question.
const timeout = time.Minute

// maxTokens of an answer leave a model room to reason before it says a word.
const maxTokens = 2048

// A Subject is a model that is tried.
type Subject struct {
	Model chela.Model      // what is known of it
	Name  string           // as its provider knows it
	Keys  []chela.Provider // asked once for each question, with each key; none if it cannot be had
	Err   error            // why it cannot be had
}

// names are the checks in the order in which they are made.
var names = []chela.CheckName{chela.CheckReachable, chela.CheckKey, chela.CheckStreams, chela.CheckTools, chela.CheckPrice}

// A report is a trial that is being made.
type report struct {
	subject Subject
	trial   chela.Trial
}

// Of tries a model with two short questions, and each further key with one. It fails only with ctx's error: what
// is wrong with the model is in the trial.
func Of(ctx context.Context, s Subject, now func() time.Time) (chela.Trial, error) {
	r := &report{subject: s, trial: chela.Trial{Model: s.Model.Provider + "/" + s.Model.Name}}
	for _, name := range names {
		r.trial.Checks = append(r.trial.Checks, chela.Check{Name: name, State: chela.CheckUntried})
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

// set notes what came of a check.
func (r *report) set(name chela.CheckName, state chela.CheckState, text, cure string) {
	for i := range r.trial.Checks {
		if c := &r.trial.Checks[i]; c.Name == name {
			c.State, c.Text, c.Cure = state, text, cure
		}
	}
}

// further asks for a word with each key but the first, of which there is a check
// of its own. Where the provider was not reached, or chela's own limit is, there is
// nothing to ask.
func (r *report) further(ctx context.Context) {
	if len(r.subject.Keys) < 2 {
		return
	}
	at := slices.IndexFunc(r.trial.Checks, func(c chela.Check) bool { return c.Name == chela.CheckKey })
	r.trial.Checks[at].Nth = 1
	for i, key := range r.subject.Keys[1:] {
		c := chela.Check{Name: chela.CheckKey, Nth: i + 2, State: chela.CheckUntried}
		if r.trial.Check(chela.CheckReachable).State == chela.CheckPassed {
			c = r.checkKey(ctx, key, c)
		}
		r.trial.Checks = slices.Insert(r.trial.Checks, at+1+i, c)
	}
}

// checkKey asks for a word with a key and returns what came of its check.
func (r *report) checkKey(ctx context.Context, key chela.Provider, c chela.Check) chela.Check {
	_, _, err := r.ask(ctx, key, greeting())
	switch {
	case limited(err):
		c.Text, c.Cure = worded(err), chela.HintOf(err)
	case err != nil:
		c.State, c.Text, c.Cure = chela.CheckFailed, chela.MessageOf(err), fmt.Sprintf("look at providers.%s.keys", r.subject.Model.Provider)
	default:
		c.State = chela.CheckPassed
	}
	return c
}

// limited reports whether a limit of the home refused a question, which says
// nothing of the model.
func limited(err error) bool {
	e, ok := errors.AsType[*chela.Error](err)
	return ok && e.Limit != ""
}

// worded is what may be shown of an error, without its hint.
func worded(err error) string {
	return strings.TrimSuffix(chela.MessageOf(err), "; "+chela.HintOf(err))
}

func (r *report) pass(name chela.CheckName) { r.set(name, chela.CheckPassed, "", "") }

func (r *report) fail(name chela.CheckName, text, cure string) {
	r.set(name, chela.CheckFailed, text, cure)
}

func (r *report) price() {
	if r.subject.Model.Sources[catalogue.FieldPrice] == known.Assumed {
		r.fail(chela.CheckPrice, known.Assumption(r.subject.Model)+" is assumed", known.Cure(r.trial.Model))
		return
	}
	r.pass(chela.CheckPrice)
}

// greeting asks for a word.
func greeting() *chela.Request {
	return &chela.Request{
		System: "Answer with one word.", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}},
	}
}

// greet asks for a word, and reports whether it came.
func (r *report) greet(ctx context.Context) bool {
	pieces, _, err := r.ask(ctx, r.subject.Keys[0], greeting())
	if err != nil {
		r.refused(err)
		return false
	}
	r.pass(chela.CheckReachable)
	r.pass(chela.CheckKey)
	if pieces == 0 {
		r.fail(chela.CheckStreams, "no text came before the end of the answer", "look whether the server, or a proxy before it, streams")
		return true
	}
	r.pass(chela.CheckStreams)
	return true
}

// call asks for something that a tool is there for.
func (r *report) call(ctx context.Context) {
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
		r.set(chela.CheckTools, chela.CheckUntried, worded(err), chela.HintOf(err))
		return
	case err != nil:
		r.fail(chela.CheckTools, chela.MessageOf(err), cure)
		return
	}
	for _, c := range end.Calls {
		var args struct{ Expression string }
		if c.Tool == "calc" && json.Unmarshal(c.Args, &args) == nil && args.Expression != "" {
			r.pass(chela.CheckTools)
			return
		}
	}
	if len(end.Calls) > 0 {
		r.fail(chela.CheckTools, fmt.Sprintf("it called %.40q with arguments that the tool does not take", end.Calls[0].Tool), cure)
		return
	}
	r.fail(chela.CheckTools, "it answered without calling the tool that it was told to use", cure)
}

// ask performs one request with a key. It returns how many pieces of text or reasoning came
// before the end.
func (r *report) ask(ctx context.Context, key chela.Provider, req *chela.Request) (pieces int, end chela.Finish, err error) {
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

// refused finds out from an error how far the first question came.
func (r *report) refused(err error) {
	provider := r.subject.Model.Provider
	text := worded(err)
	of, asked := errors.AsType[*chela.ProviderError](err)
	kind := chela.KindOf(err)
	switch {
	case limited(err):
		r.set(chela.CheckReachable, chela.CheckUntried, text, chela.HintOf(err))
	case errors.Is(err, context.DeadlineExceeded):
		r.fail(chela.CheckReachable, fmt.Sprintf("no answer came within %s", timeout), "look whether the server is up and not too busy")
	case asked && of.Status == 0 && kind == chela.Unavailable && !of.Cut:
		r.fail(chela.CheckReachable, text, cure.Of(of))
	case kind == chela.Denied:
		hint := chela.HintOf(err)
		if asked {
			r.pass(chela.CheckReachable)
			hint = ""
		}
		r.fail(chela.CheckKey, text, cmp.Or(hint, cure.Of(&chela.ProviderError{Provider: provider, Kind: kind})))
	case !asked:
		r.fail(chela.CheckReachable, text, chela.HintOf(err))
	default:
		r.pass(chela.CheckReachable)
		r.pass(chela.CheckKey)
		r.fail(chela.CheckStreams, text, cmp.Or(cure.Of(of), fmt.Sprintf("look at [providers.%s]: its kind may not be what the server speaks", provider)))
	}
}
