package provider_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// anew is how [drain] writes that an answer is begun anew.
const anew = "<anew>"

// unseen is how ends say that a byte is only counted.
const unseen = "<unseen>"

// An end is what one stream of a fake comes to: texts, then err or a finish.
type end struct {
	texts []string
	err   error
}

// fake is a provider whose streams end as told, the last way repeated. It
// remembers what it was asked.
type fake struct {
	ends   []end
	finish chela.Finish // of answers, beside their text

	mu    sync.Mutex
	plain []bool   // guarded by mu; which requests were plain
	hasty []bool   // guarded by mu; which were hasty
	names []string // guarded by mu; which model they asked for

	levels []chela.ThinkingLevel // guarded by mu; of thinking
}

// ask takes note of a request and returns how it ends.
func (f *fake) ask(req *chela.Request) end {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.ends[min(len(f.plain), len(f.ends)-1)]
	f.plain = append(f.plain, req.Plain)
	f.hasty = append(f.hasty, req.Hasty)
	f.names = append(f.names, req.Model)
	f.levels = append(f.levels, req.Thinking)
	return e
}

// asked returns how often the fake was asked.
func (f *fake) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.plain)
}

func (f *fake) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		e := f.ask(req)
		whole := ""
		for _, text := range e.texts {
			chunk := chela.Chunk{Text: text}
			if text == unseen {
				chunk = chela.Chunk{Unseen: 1}
			}
			whole += chunk.Text
			if !yield(chunk, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			e.err = err
		}
		if e.err != nil {
			yield(chela.Chunk{}, e.err)
			return
		}
		finish := f.finish
		finish.Text, finish.Stop = whole, chela.StopEnd
		yield(chela.Chunk{Finish: &finish}, nil)
	}
}

// failed is the end of a stream that a provider did not serve.
func failed(e chela.ProviderError, texts ...string) end {
	if e.Provider == "" {
		e.Provider = "fake"
	}
	return end{texts: texts, err: &e}
}

// drain reads a stream and returns its texts and how it ended.
func drain(t *testing.T, stream iter.Seq2[chela.Chunk, error]) ([]string, error) {
	t.Helper()
	texts, _, err := drained(t, stream)
	return texts, err
}

// drained is drain with the finish.
func drained(t *testing.T, stream iter.Seq2[chela.Chunk, error]) ([]string, *chela.Finish, error) {
	t.Helper()
	var texts []string
	var finish *chela.Finish
	var failed error
	for chunk, err := range stream {
		if finish != nil || failed != nil {
			t.Fatalf("something came after the end: %+v, %v", chunk, err)
		}
		finish, failed = chunk.Finish, err
		switch {
		case chunk.Anew:
			texts = append(texts, anew)
		case chunk.Unseen > 0:
			texts = append(texts, unseen)
		case chunk.Text != "":
			texts = append(texts, chunk.Text)
		}
	}
	if (finish == nil) == (failed == nil) {
		t.Fatalf("stream ended with finish %v and error %v", finish, failed)
	}
	return texts, finish, failed
}

func checkEnd(t *testing.T, texts []string, err error, want end) {
	t.Helper()
	if !errors.Is(err, want.err) || !slices.Equal(texts, want.texts) {
		t.Errorf("got %q and %v\nwant %q and %v", texts, err, want.texts, want.err)
	}
}

func checkDiff(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// wait waits by the clock of the test.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// discard is a log that nobody reads.
func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
