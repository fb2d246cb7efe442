package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider"
)

// said is one stream: chunks, then err if there is one.
type said struct {
	chunks []chela.Chunk
	err    error
}

// fakeAnswers answers with one stream after the other.
type fakeAnswers struct {
	answers []said
	asked   int
}

func (f *fakeAnswers) Stream(context.Context, *chela.Request) iter.Seq2[chela.Chunk, error] {
	a := f.answers[f.asked]
	f.asked++
	return func(yield func(chela.Chunk, error) bool) {
		for _, c := range a.chunks {
			if !yield(c, nil) {
				return
			}
		}
		if a.err != nil {
			yield(chela.Chunk{}, a.err)
		}
	}
}

// drainRecording reads a stream to its end.
func drainRecording(stream iter.Seq2[chela.Chunk, error]) (all said) {
	for c, err := range stream {
		if err != nil {
			all.err = err
			continue
		}
		all.chunks = append(all.chunks, c)
	}
	return all
}

// answerOf is a stream of pieces and their finish.
func answerOf(f chela.Finish, pieces ...string) said {
	var a said
	for _, text := range pieces {
		a.chunks = append(a.chunks, chela.Chunk{Text: text})
		f.Text += text
	}
	if f.Stop == "" {
		f.Stop = chela.StopEnd
	}
	a.chunks = append(a.chunks, chela.Chunk{Finish: &f})
	return a
}

// ask is a request with one message.
func ask(text string) *chela.Request {
	return &chela.Request{Model: "m", System: "Be kind.", Messages: []chela.Message{{Role: chela.RoleUser, Text: text}}}
}

// recorder returns a recorder whose clock does not move.
func recorder(t *testing.T, dir string, secrets ...string) *provider.Recorder {
	t.Helper()
	r, err := provider.NewRecorder(dir, provider.RecorderConfig{
		Scrub: provider.NewScrubber(secrets...), Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// recorded asks for each request and returns the folder with what came of it.
func recorded(t *testing.T, model string, requests []*chela.Request, answers ...said) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tape")
	p := recorder(t, dir).Record(&fakeAnswers{answers: answers}, model)
	for _, req := range requests {
		drainRecording(p.Stream(t.Context(), req))
	}
	return dir
}

func open(t *testing.T, dir, model string) chela.Provider {
	t.Helper()
	p, err := provider.OpenRecording(dir, provider.NewScrubber())
	if err != nil {
		t.Fatal(err)
	}
	return p.Play(model)
}

func checkSame(t *testing.T, want, got any) {
	t.Helper()
	equal := cmp.Transformer("said", func(s said) any {
		text := ""
		if s.err != nil {
			text = s.err.Error() + string(chela.KindOf(s.err))
		}
		return []any{s.chunks, text}
	})
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// filesOf returns the files of a recording, by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(text) {
			t.Errorf("%s is not JSON", f.Name())
		}
		all[f.Name()] = string(text)
	}
	return all
}

// messageOf returns what an error says, if it is of a kind.
func messageOf(t *testing.T, err error, kind chela.Kind) string {
	t.Helper()
	if chela.KindOf(err) != kind {
		t.Errorf("got %v, want an error that is %s", err, kind)
	}
	pe, ok := errors.AsType[*chela.ProviderError](err)
	if !ok {
		return chela.MessageOf(err)
	}
	return pe.Msg
}
