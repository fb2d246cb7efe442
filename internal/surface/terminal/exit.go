package terminal

import (
	"context"
	"errors"
	"strings"

	"chela"
)

// exitCodes are those of errors; the other kinds have 1.
var exitCodes = map[chela.Kind]int{"": 0, chela.Invalid: 2, chela.Denied: 3, chela.Exhausted: 4}

// exitInterrupted is what shells report of a process that Ctrl-C ended.
const exitInterrupted = 130

// ErrInterrupted ends a command whose turn was stopped by the user.
var ErrInterrupted = errors.New("interrupted")

// ErrTerminated ends a command on SIGTERM. It is for ErrorLine alone, so it is
// worded for people.
var ErrTerminated = errors.New("stopped; a turn that had begun goes on with the next message of its session")

// ExitCode returns the exit code for a command's error.
func ExitCode(err error) int {
	if errors.Is(err, ErrInterrupted) || errors.Is(err, ErrTerminated) || errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	if code, ok := exitCodes[chela.KindOf(err)]; ok {
		return code
	}
	return 1
}

// ErrorLine formats an error on one line. An internal error without a hint is
// printed in full, so that the user can report it.
func ErrorLine(err error) string {
	text := chela.MessageOf(err)
	switch {
	case errors.Is(err, ErrInterrupted), errors.Is(err, ErrTerminated):
		text = err.Error()
	case chela.KindOf(err) == chela.Internal && chela.HintOf(err) == "":
		text = "internal error: " + strings.Join(strings.Fields(err.Error()), " ")
	}
	return "chela: " + Visible(text)
}

// NotThere adds a hint how to list existing objects to a NotFound error, unless
// it has one.
func NotThere(err error, hint string) error {
	if chela.KindOf(err) != chela.NotFound || chela.HintOf(err) != "" {
		return err
	}
	return chela.E(chela.NotFound, chela.MessageOf(err)).WithHint(hint).Because(err)
}
