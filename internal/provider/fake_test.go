package provider_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// An end is what one stream of a fake comes to: texts, then err or a finish.
type end struct {
	texts []string
	err   error
}

// fake is a provider whose streams end as told, the last way repeated. It
// remembers which requests were plain.
type fake struct {
	ends  []end
	plain []bool
}

func (f *fake) Stream(_ context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		e := f.ends[min(len(f.plain), len(f.ends)-1)]
		f.plain = append(f.plain, req.Plain)
		whole := ""
		for _, text := range e.texts {
			whole += text
			if !yield(chela.Chunk{Text: text}, nil) {
				return
			}
		}
		if e.err != nil {
			yield(chela.Chunk{}, e.err)
			return
		}
		yield(chela.Chunk{Finish: &chela.Finish{Text: whole, Stop: chela.StopEnd}}, nil)
	}
}

// drain reads a stream and returns its texts and how it ended.
func drain(t *testing.T, stream iter.Seq2[chela.Chunk, error]) ([]string, error) {
	t.Helper()
	var texts []string
	var finish *chela.Finish
	var failed error
	for chunk, err := range stream {
		if finish != nil || failed != nil {
			t.Fatalf("something came after the end: %+v, %v", chunk, err)
		}
		finish, failed = chunk.Finish, err
		if chunk.Text != "" {
			texts = append(texts, chunk.Text)
		}
	}
	if (finish == nil) == (failed == nil) {
		t.Fatalf("stream ended with finish %v and error %v", finish, failed)
	}
	return texts, failed
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
