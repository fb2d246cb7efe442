package manners

import (
	"context"
	"errors"
	"strings"

	"chela"
	"chela/internal/channel/terminal"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUse         = 2
	exitDenied      = 3
	exitLimit       = 4
	exitInterrupted = 130 // as shells report a process that Ctrl-C ended
)

// ErrInterrupted ends a command whose turn a person stopped.
var ErrInterrupted = errors.New("interrupted")

// ErrTerminated ends a command that was told to stop from outside. It is for
// ErrorLine alone, so it is written as a person reads it.
var ErrTerminated = errors.New("stopped; a turn that had begun goes on with the next message of its session")

// ExitCode returns the exit code for what a command ended with.
func ExitCode(err error) int {
	if errors.Is(err, ErrInterrupted) || errors.Is(err, ErrTerminated) || errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	switch chela.KindOf(err) {
	case "":
		return exitDone
	case chela.Invalid:
		return exitUse
	case chela.Denied:
		return exitDenied
	case chela.Exhausted:
		return exitLimit
	default:
		return exitFailed
	}
}

// ErrorLine returns what is printed of an error, on one line. A fault of chela
// itself, for which nobody knows a cure, is printed whole: whoever runs the
// command is the one to report it.
func ErrorLine(err error) string {
	text := chela.MessageOf(err)
	switch {
	case errors.Is(err, ErrInterrupted), errors.Is(err, ErrTerminated):
		text = err.Error()
	case chela.KindOf(err) == chela.Internal && chela.HintOf(err) == "":
		text = "internal error: " + strings.Join(strings.Fields(err.Error()), " ")
	}
	return "chela: " + terminal.Visible(text)
}

// NotThere tells how to find what a NotFound error says is not there, unless
// the error tells itself.
func NotThere(err error, hint string) error {
	if chela.KindOf(err) != chela.NotFound || chela.HintOf(err) != "" {
		return err
	}
	return chela.E(chela.NotFound, chela.MessageOf(err)).WithHint(hint).Because(err)
}
