package chela_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	full := chela.E(chela.Exhausted, "disk is full").WithHint("free some space")
	busy := &chela.ProviderError{Provider: "openai", Kind: chela.Unavailable, Status: 503, Msg: "over\nloaded", Err: fs.ErrClosed}
	type shown struct {
		Kind                 chela.Kind
		Hint, Message, InLog string
	}
	cases := []struct {
		name string
		err  error
		want shown
	}{
		{"plain", full, shown{chela.Exhausted, "free some space", "disk is full; free some space", "disk is full"}},
		{
			"wrapped", fmt.Errorf("append entry: %w", full),
			shown{chela.Exhausted, "free some space", "disk is full; free some space", "append entry: disk is full"},
		},
		{
			"with a cause", chela.E(chela.NotFound, "there is no file a.txt").Because(fs.ErrNotExist),
			shown{chela.NotFound, "", "there is no file a.txt", "there is no file a.txt: file does not exist"},
		},
		{
			"outermost kind, innermost hint", chela.E(chela.Internal, "the turn broke").Because(fmt.Errorf("append: %w", full)),
			shown{chela.Internal, "free some space", "the turn broke; free some space", "the turn broke: append: disk is full"},
		},
		{
			"outermost hint", full.Because(chela.E(chela.Internal, "inner").WithHint("inner hint")),
			shown{chela.Exhausted, "free some space", "disk is full; free some space", "disk is full: inner"},
		},
		{
			"without a message", &chela.Error{Kind: chela.Conflict, Err: fs.ErrExist},
			shown{chela.Conflict, "", "conflict", "file already exists"},
		},
		{"provider", fmt.Errorf("step 1: %w", busy), shown{chela.Unavailable, "", "openai answered 503: over loaded", "step 1: openai answered 503: over\nloaded"}},
		{"provider without an answer", &chela.ProviderError{Provider: "x", Kind: chela.Denied, Msg: "no key"}, shown{chela.Denied, "", "x: no key", "x: no key"}},
		{"cancelled", fmt.Errorf("read: %w", context.Canceled), shown{chela.Unavailable, "", "cancelled", "read: context canceled"}},
		{"late", context.DeadlineExceeded, shown{chela.Unavailable, "", "took too long", "context deadline exceeded"}},
		{"unclassified", errors.New("secret detail"), shown{chela.Internal, "", "internal error", "secret detail"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := shown{chela.KindOf(c.err), chela.HintOf(c.err), chela.MessageOf(c.err), c.err.Error()}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoErrorHasNoKind(t *testing.T) {
	t.Parallel()
	if kind, hint := chela.KindOf(nil), chela.HintOf(nil); kind != "" || hint != "" {
		t.Errorf("nil is of kind %q with hint %q", kind, hint)
	}
}

func TestDetail(t *testing.T) {
	t.Parallel()
	plain := chela.E(chela.Conflict, "a.txt was changed meanwhile")
	shown := fmt.Errorf("undo: %w", plain.WithDetail("-a\n+b\n"))
	for err, want := range map[error]string{nil: "", plain: "", shown: "-a\n+b\n", context.Canceled: ""} {
		if got := chela.DetailOf(err); got != want {
			t.Errorf("%v shows %q, want %q", err, got, want)
		}
	}
	if got, want := chela.MessageOf(shown), "a.txt was changed meanwhile"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// TestErrorsAreCopied guards errors that are declared once and used often.
func TestErrorsAreCopied(t *testing.T) {
	t.Parallel()
	declared := chela.E(chela.Denied, "not allowed")
	hinted := declared.WithHint("ask the owner")
	caused := declared.Because(fs.ErrPermission)
	if diff := cmp.Diff(&chela.Error{Kind: chela.Denied, Msg: "not allowed"}, declared); diff != "" {
		t.Errorf("the declared error changed (-want +got):\n%s", diff)
	}
	if hinted.Hint != "ask the owner" || !errors.Is(caused, fs.ErrPermission) {
		t.Errorf("copies are incomplete: %+v, %+v", hinted, caused)
	}
	if busy := (&chela.ProviderError{Err: fs.ErrClosed}); !errors.Is(busy, fs.ErrClosed) {
		t.Error("a provider's error hides its cause")
	}
}
