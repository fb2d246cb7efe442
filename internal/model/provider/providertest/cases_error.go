package providertest

import (
	"context"
	"errors"
	"time"

	"chela"
)

// refusals are the clauses about requests that are not fulfilled at all.
func refusals() []clause {
	return []clause{
		refusal("rate limit with a delay", Answer{Fault: FaultRate, After: 7 * time.Second},
			chela.ProviderError{Kind: chela.Exhausted, Retryable: true, After: 7 * time.Second, Unpaid: true}),
		refusal("rate limit without a delay", Answer{Fault: FaultRate},
			chela.ProviderError{Kind: chela.Exhausted, Retryable: true, Unpaid: true}),
		refusal("quota used up", Answer{Fault: FaultQuota}, chela.ProviderError{Kind: chela.Exhausted, Unpaid: true}),
		refusal("bad credentials", Answer{Fault: FaultKey}, chela.ProviderError{Kind: chela.Denied, Unpaid: true}),
		refusal("prompt too large", Answer{Fault: FaultOverflow}, chela.ProviderError{Kind: chela.Invalid, Overflow: true, Unpaid: true}),
		refusal("unknown model", Answer{Fault: FaultModel}, chela.ProviderError{Kind: chela.NotFound, Unpaid: true}),
		refusal("request not understood", Answer{Fault: FaultRefused}, chela.ProviderError{Kind: chela.Invalid, Unpaid: true}),
		refusal("server error", Answer{Fault: FaultServer}, chela.ProviderError{Kind: chela.Unavailable, Retryable: true, Unpaid: true}),
		refusal("overloaded", Answer{Fault: FaultOverloaded}, chela.ProviderError{Kind: chela.Unavailable, Retryable: true, Unpaid: true}),
		refusal("page of a proxy", Answer{Fault: FaultPage}, chela.ProviderError{Kind: chela.Unavailable, Retryable: true}),
	}
}

// refusal is a clause whose request ends with an error like want, streamed or
// plain.
func refusal(name string, a Answer, want chela.ProviderError) clause {
	return clause{
		Case:     Case{Name: name, Answers: []Answer{a}},
		scripted: true,
		check: func(r *run) {
			req := r.request(say("hello"))
			for _, req.Plain = range []bool{false, true} {
				out := r.stream(req)
				if out.chunks != 0 {
					r.Errorf("%d chunks came ahead of the error", out.chunks)
				}
				r.like(out.err, want)
			}
		},
	}
}

// broken are the clauses about streams that go wrong on their way.
func broken() []clause {
	piece := []string{"one ", "two "}
	at := func(name string, a Answer, want chela.ProviderError) clause {
		return clause{Case: Case{Name: name, Answers: []Answer{a}}, scripted: true, check: func(r *run) {
			out := r.stream(r.request(say("hello")))
			if out.chunks == 0 && len(a.Text) > 0 {
				r.Error("what came ahead of the error was not passed on")
			}
			for _, c := range a.Calls {
				if out.unseen < len(c.Args) {
					r.Errorf("%d bytes are counted, the arguments of the call have %d", out.unseen, len(c.Args))
				}
			}
			r.like(out.err, want)
		}}
	}
	cut := chela.ProviderError{Kind: chela.Unavailable, Retryable: true, Cut: true}
	later := chela.ProviderError{Kind: chela.Unavailable, Retryable: true}
	unpaid := later
	unpaid.Unpaid = true
	return []clause{
		at("stream cut short", Answer{Text: piece, Fault: FaultCut}, cut),
		at("stream cut before its first piece", Answer{Fault: FaultCut}, cut),
		at("stream cut inside a call", Answer{Calls: []Call{{"r1", "clock", `{"zone":"UTC"}`}}, Fault: FaultCut}, cut),
		at("stream that just ends", Answer{Text: piece, Fault: FaultEnd}, cut),
		at("malformed event", Answer{Text: piece, Fault: FaultGarbage}, later),
		at("error inside a stream", Answer{Text: piece, Fault: FaultEvent}, later),
		at("error instead of a stream", Answer{Fault: FaultEvent}, unpaid),
	}
}

func (r *run) like(err error, want chela.ProviderError) {
	r.Helper()
	pe := r.providerError(err)
	want.Provider, want.Status, want.Msg, want.Err = pe.Provider, pe.Status, pe.Msg, pe.Err
	if *pe != want {
		r.Errorf("got  %+v\nwant %+v", *pe, want)
	}
}

// stops are the clauses about callers that do not wait for the end.
func stops() []clause {
	hang := []Answer{{Text: []string{"one ", "two "}, Fault: FaultHang}}
	return []clause{
		{Case: Case{Name: "cancel mid-stream", Answers: hang}, check: checkCancel},
		{Case: Case{Name: "time runs out while nothing comes", Answers: []Answer{{Fault: FaultHang}}}, scripted: true, check: checkTimeout},
		{Case: Case{Name: "cancelled before", Answers: []Answer{{Text: []string{"late"}}}}, check: checkCancelled},
		{Case: Case{Name: "time runs out", Answers: hang}, scripted: true, check: checkTimeout},
		{Case: Case{Name: "break stops the request", Answers: hang}, check: checkBreak},
		{Case: Case{Name: "iterated twice", Answers: []Answer{{Text: []string{"ok"}}}}, check: checkTwice},
	}
}

// checkCancel ends the request after its first chunk. A model side that was
// quicker may have finished.
func checkCancel(r *run) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var last error
	finished := false
	for chunk, err := range r.p.Stream(ctx, r.request(say("hello"))) {
		cancel()
		last, finished = err, chunk.Finish != nil
	}
	if !errors.Is(last, context.Canceled) && !(r.h.Unscripted && finished) {
		r.Errorf("stream ended with %v, want context.Canceled", last)
	}
}

func checkCancelled(r *run) {
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	r.ends(ctx, context.Canceled)
}

func checkTimeout(r *run) {
	ctx, cancel := context.WithTimeout(r.Context(), 50*time.Millisecond)
	defer cancel()
	r.ends(ctx, context.DeadlineExceeded)
}

func (r *run) ends(ctx context.Context, want error) {
	r.Helper()
	out, problem := drain(ctx, r.p, r.request(say("hello")))
	if problem != nil || !errors.Is(out.err, want) {
		r.Errorf("stream ended with %v (%v), want %v", out.err, problem, want)
	}
}

// checkBreak leaves the loop. That the request is stopped shows when the
// server, which hangs until its caller is gone, can be closed.
func checkBreak(r *run) {
	for _, err := range r.p.Stream(r.Context(), r.request(say("hello"))) {
		if err != nil {
			r.Fatalf("stream ended with %v", err)
		}
		break
	}
}

// checkTwice ranges over one stream twice, as iter.Seq2 allows: the second is
// a request of its own.
func checkTwice(r *run) {
	seq := r.p.Stream(r.Context(), r.request(say("hello")))
	for range 2 {
		var end chela.Chunk
		var err error
		for end, err = range seq {
		}
		if err != nil || end.Finish == nil {
			r.Fatalf("stream ended with %v, want a finish", err)
		}
		r.want(end.Finish.Text, "ok")
	}
}
