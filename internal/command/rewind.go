package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/command/grammar"
	"chela/internal/lane"
	"chela/internal/rewind"
	"chela/internal/store"
)

// rewinds moves the heads of threads, and names and copies places in them. What
// has a key is done once.
type rewinds interface {
	Rewind(ctx context.Context, thread chela.ThreadID, kind chela.RewindKind, q api.Rewinding) (chela.Rewind, error)
	Checkpoint(ctx context.Context, thread chela.ThreadID, q api.NewCheckpoint) (chela.Checkpoint, error)
	Branch(ctx context.Context, thread chela.ThreadID, q api.NewBranch) (chela.Thread, error)
}

// keepFiles is the word that leaves files and documents as they are.
const keepFiles = "keep-files"

// key names what a message asks for, so that the same delivery asks once. It is
// a hash, for names may be long and have anything in them.
func (g given) key() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{g.Origin.Channel, g.Origin.Account, g.MessageID}, "\x00")))
	return "message " + hex.EncodeToString(sum[:])
}

// keeps cuts the word that keeps the files from the end of the arguments.
func (g given) keeps() (args string, keep bool) {
	args, keep = strings.CutSuffix(g.args, keepFiles)
	if trimmed := strings.TrimSpace(args); keep && (trimmed == "" || trimmed != args) {
		return trimmed, true
	}
	return g.args, false
}

// undo takes the last turns back.
func (i *Interpreter) undo(ctx context.Context, g given) (lane.Order, error) {
	args, keep := g.keeps()
	n := 1
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return nil, chela.E(chela.Invalid, grammar.Quoted(args)+" is not a number of turns").WithHint("write /undo 2")
		}
	}
	return i.rewind(ctx, g, chela.RewindUndo, api.Rewinding{Turns: n, KeepFiles: keep})
}

// redo takes the last undo or restore back.
func (i *Interpreter) redo(ctx context.Context, g given) (lane.Order, error) {
	args, keep := g.keeps()
	if args != "" {
		return nil, chela.E(chela.Invalid, "/redo takes nothing behind it but "+keepFiles)
	}
	return i.rewind(ctx, g, chela.RewindRedo, api.Rewinding{KeepFiles: keep})
}

// restore goes to a place in the thread.
func (i *Interpreter) restore(ctx context.Context, g given) (lane.Order, error) {
	to, keep := g.keeps()
	if to == "" {
		return nil, chela.E(chela.Invalid, "no place is named").WithHint("write /restore NAME, with a name that /checkpoint gave")
	}
	return i.rewind(ctx, g, chela.RewindRestore, api.Rewinding{To: to, KeepFiles: keep})
}

// rewind moves the head of the thread and tells what became of the files.
func (i *Interpreter) rewind(ctx context.Context, g given, kind chela.RewindKind, q api.Rewinding) (lane.Order, error) {
	if err := g.hasThread(); err != nil {
		return nil, err
	}
	q.Key = g.key()
	v, err := i.cfg.Rewinds.Rewind(ctx, g.thread.ID, kind, q)
	if err != nil {
		return nil, err
	}
	return reply(strings.TrimRight(rewind.Report(v), "\n")), nil
}

// checkpoint names the place where the thread is.
func (i *Interpreter) checkpoint(ctx context.Context, g given) (lane.Order, error) {
	if err := g.hasThread(); err != nil {
		return nil, err
	}
	c, err := i.cfg.Rewinds.Checkpoint(ctx, g.thread.ID, api.NewCheckpoint{Name: g.args, Key: g.key()})
	if err != nil {
		return nil, err
	}
	return reply(fmt.Sprintf("This place is called %s: /restore %[1]s comes back to it, and /branch %[1]s goes on from it in a thread of its own.", c.Name)), nil
}

// branch begins a thread at a place in this one.
func (i *Interpreter) branch(ctx context.Context, g given) (lane.Order, error) {
	if err := g.hasThread(); err != nil {
		return nil, err
	}
	made, err := i.cfg.Rewinds.Branch(ctx, g.thread.ID, api.NewBranch{From: g.args, Key: g.key()})
	if err != nil {
		return nil, err
	}
	return func(_ *store.Write, at *store.Arrival) (lane.Outcome, error) {
		at.Thread = made
		return lane.Outcome{Reply: "You are in a branch, thread " + threadLine(made) + ". /resume goes back; files are as they were."}, nil
	}, nil
}

// hasThread refuses to move in a session in which nothing was said yet.
func (g given) hasThread() error {
	if g.thread.ID == "" {
		return chela.E(chela.NotFound, "nothing was said in this session yet")
	}
	return nil
}
