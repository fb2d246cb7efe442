package cli

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

// errInterrupted ends a command whose turn a person stopped.
var errInterrupted = errors.New("interrupted")

// errTerminated ends a command that was told to stop from outside. It is for
// errorLine alone, so it is written as a person reads it.
var errTerminated = errors.New("stopped; a turn that had begun goes on with the next message of its session")

// ExitCode returns the exit code for what a command ended with.
func ExitCode(err error) int {
	if errors.Is(err, errInterrupted) || errors.Is(err, errTerminated) || errors.Is(err, context.Canceled) {
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

// errorLine returns what is printed of an error, on one line. A fault of chela
// itself, for which nobody knows a cure, is printed whole: whoever runs the
// command is the one to report it.
func errorLine(err error) string {
	text := chela.MessageOf(err)
	switch {
	case errors.Is(err, errInterrupted), errors.Is(err, errTerminated):
		text = err.Error()
	case chela.KindOf(err) == chela.Internal && chela.HintOf(err) == "":
		text = "internal error: " + strings.Join(strings.Fields(err.Error()), " ")
	}
	return "chela: " + terminal.Visible(text)
}

// notThere tells how to find what a NotFound error says is not there, unless
// the error tells itself.
func notThere(err error, hint string) error {
	if chela.KindOf(err) != chela.NotFound || chela.HintOf(err) != "" {
		return err
	}
	return chela.E(chela.NotFound, chela.MessageOf(err)).WithHint(hint).Because(err)
}

// ending returns the error that stands for a turn that did not complete.
func ending(t chela.Turn) error {
	message, kind := "the turn did not complete", chela.Internal
	if t.Failure != nil {
		message = t.Failure.Message
		if t.Failure.Kind != "" {
			kind = t.Failure.Kind
		}
	}
	switch t.State {
	case chela.TurnCompleted:
		return nil
	case chela.TurnInterrupted:
		return errInterrupted
	case chela.TurnLimited:
		return chela.E(chela.Exhausted, message).WithHint("ask for the rest, or raise it with chela config set")
	case chela.TurnFailed:
		if kind == chela.Invalid { // what the model was sent, not what the person typed
			kind = chela.Unavailable
		}
		return chela.E(kind, message)
	default:
		return chela.E(chela.Unavailable, "turn "+string(t.ID)+" goes on").WithHint("see chela turns show " + string(t.ID))
	}
}
