package command

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/lane"
	"chela/internal/engine/rewind"
	"chela/internal/store"
)

// keepFiles is the word that leaves files and documents as they are.
const keepFiles = "keep-files"

// key is the key of a message's request, so that a repeated delivery makes it
// once. It is a hash, because names may be long and contain any character.
func (g given) key() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{g.Origin.Channel, g.Origin.Account, g.MessageID}, "\x00")))
	return "message " + hex.EncodeToString(sum[:])
}

// keeps strips keepFiles from the end of the arguments.
func (g given) keeps() (args string, keep bool) {
	args, keep = strings.CutSuffix(g.args, keepFiles)
	if trimmed := strings.TrimSpace(args); keep && (trimmed == "" || trimmed != args) {
		return trimmed, true
	}
	return g.args, false
}

// undo takes the last turns back.
func (g given) undo(ctx context.Context) (string, error) {
	args, keep := g.keeps()
	n, err := strconv.Atoi(cmp.Or(args, "1"))
	if err != nil || n < 1 {
		return "", invalid(Quoted(args)+" is not a number of turns", "write /undo 2")
	}
	return g.rewind(ctx, api.ThreadsUndo, api.RewindOptions{Turns: n, KeepFiles: keep})
}

// redo reverts the last undo or restore.
func (g given) redo(ctx context.Context) (string, error) {
	args, keep := g.keeps()
	if args != "" {
		return "", chela.E(chela.Invalid, "/redo takes nothing behind it but "+keepFiles)
	}
	return g.rewind(ctx, api.ThreadsRedo, api.RewindOptions{KeepFiles: keep})
}

// restore goes to a place in the thread.
func (g given) restore(ctx context.Context) (string, error) {
	to, keep := g.keeps()
	if to == "" {
		return "", invalid("no place is named", "write /restore NAME, with a name that /checkpoint gave")
	}
	return g.rewind(ctx, api.ThreadsRestore, api.RewindOptions{To: to, KeepFiles: keep})
}

// rewind moves the head of the thread and tells what became of the files.
func (g given) rewind(ctx context.Context, o api.Operation[api.ThreadMove, chela.Rewind], q api.RewindOptions) (string, error) {
	if err := g.hasThread(); err != nil {
		return "", err
	}
	q.Key = g.key()
	v, err := api.Call(ctx, g, o, api.ThreadMove{ThreadRef: api.ThreadRef{ID: g.thread.ID}, To: q})
	return strings.TrimRight(rewind.Report(v, "/"), "\n"), err
}

// checkpoint names the place where the thread is.
func (g given) checkpoint(ctx context.Context) (string, error) {
	if err := g.hasThread(); err != nil {
		return "", err
	}
	c, err := api.Call(ctx, g, api.ThreadsCheckpoint, api.CheckpointRequest{
		ThreadRef: api.ThreadRef{ID: g.thread.ID}, Checkpoint: api.NewCheckpoint{Name: g.args, Key: g.key()},
	})
	return fmt.Sprintf("This place is called %s: /restore %[1]s returns to it, and /branch %[1]s continues from it in a new thread.", c.Name), err
}

// branch begins a thread at a place in this one.
func (g given) branch(ctx context.Context) (lane.Command, error) {
	if err := g.hasThread(); err != nil {
		return nil, err
	}
	made, err := api.Call(ctx, g, api.ThreadsBranch, api.BranchRequest{
		ThreadRef: api.ThreadRef{ID: g.thread.ID}, Branch: api.NewBranch{From: g.args, Key: g.key()},
	})
	if err != nil {
		return nil, err
	}
	return func(_ *store.Write, at *store.Arrival) (lane.Outcome, error) {
		at.Thread = made
		return lane.Outcome{Reply: "You are in a branch, thread " + threadLine(made) + ". /resume goes back; files are as they were."}, nil
	}, nil
}

// hasThread refuses to rewind an empty session.
func (g given) hasThread() error {
	if g.thread.ID == "" {
		return chela.E(chela.NotFound, "this session is empty")
	}
	return nil
}
