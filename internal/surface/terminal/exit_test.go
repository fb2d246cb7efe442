package terminal_test

import (
	"context"
	"strings"
	"testing"

	"chela"
	"chela/internal/surface/terminal"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{chela.E(chela.Invalid, "x"), 2},
		{chela.E(chela.NotFound, "x"), 1},
		{chela.E(chela.Conflict, "x"), 1},
		{chela.E(chela.Denied, "x"), 3},
		{chela.E(chela.Exhausted, "x"), 4},
		{chela.E(chela.Unavailable, "x"), 1},
		{chela.E(chela.Unsupported, "x"), 1},
		{&chela.ProviderError{Kind: chela.Denied, Msg: "x"}, 3},
		{context.Canceled, 130},
		{context.DeadlineExceeded, 1},
		{terminal.ErrInterrupted, 130},
	}
	for _, tt := range tests {
		if got := terminal.ExitCode(tt.err); got != tt.want {
			t.Errorf("ExitCode(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestErrorLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want string
	}{
		{chela.E(chela.Invalid, "a\x1b[2J").WithHint("do b"), `chela: a\x1b[2J; do b`},
		{context.Canceled, "chela: cancelled"},
		{terminal.ErrInterrupted, "chela: interrupted"},
		{chela.E(chela.Internal, "").Because(strings.NewReader("").UnreadByte()), "chela: internal error: strings.Reader.UnreadByte: at beginning of string"},
	}
	for _, tt := range tests {
		if got := terminal.ErrorLine(tt.err); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
