package cli

// This part of the package holds the commands that move a thread along its
// tree: undo, redo, restore, checkpoint and branch.

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/rewind"
	"chela/internal/surface/terminal"
)

// rewindCommands returns the commands.
func (c *commands) rewindCommands() []*cobra.Command {
	return []*cobra.Command{
		command(c, "undo", "Undo the last turn, or several, and put their files back", c.undo),
		command(c, "redo", "Take back the last undo or restore", func(ctx context.Context, b *Backend, in rewindMove) error {
			return c.rewind(ctx, b, api.ThreadsRedo, in)
		}),
		command(c, "restore", "Go to a checkpoint, an entry or the end of a turn", c.restore),
		command(c, "checkpoint", "Name the place where a thread is", c.checkpoint),
		command(c, "branch", "Create a thread that branches off here, or at a place", c.branch),
	}
}

// rewindFlags identify the thread and the request of a command.
type rewindFlags struct {
	Thread  chela.ThreadID `flag:"thread" help:"thread; without it the current one of the session"`
	Session string         `flag:"session" default:"here" help:"session key, or here: the session of this folder if it is trusted, else agent:main:main"`
	Key     string         `flag:"key" help:"names the request: sent again, it is not carried out again"`
}

// find returns the thread that the flags name.
func (c *commands) find(ctx context.Context, b *Backend, f rewindFlags) (api.ThreadRef, error) {
	if f.Thread != "" {
		return api.ThreadRef{ID: f.Thread}, nil
	}
	key, err := b.SessionNamed(ctx, f.Session, c.Dir)
	if err != nil {
		return api.ThreadRef{}, err
	}
	s, err := api.Call(ctx, b, api.SessionsShow, api.SessionRef{Key: key})
	return api.ThreadRef{ID: s.Thread}, terminal.NotThere(err, "see chela sessions list")
}

// A rewindMove is a request that moves the head of a thread.
type rewindMove struct {
	rewindFlags
	KeepFiles bool `flag:"keep-files" help:"leave files and documents as they are"`

	options api.RewindOptions
}

// rewind moves the head of a thread and reports the changes of files.
func (c *commands) rewind(ctx context.Context, b *Backend, o api.Operation[api.ThreadMove, chela.Rewind], m rewindMove) error {
	ref, err := c.find(ctx, b, m.rewindFlags)
	if err != nil {
		return err
	}
	m.options.Key, m.options.KeepFiles = m.Key, m.KeepFiles
	v, err := api.Call(ctx, b, o, api.ThreadMove{ThreadRef: ref, To: m.options})
	return answer(c, v, terminal.NotThere(err, "see chela threads list"), func(v chela.Rewind) {
		c.Text(terminal.Visible(rewind.Report(v, "chela threads ")))
	})
}

type undoArgs struct {
	Turns string `arg:"[TURNS]" default:"1"`
	rewindMove
}

func (c *commands) undo(ctx context.Context, b *Backend, in undoArgs) (err error) {
	if in.options.Turns, err = strconv.Atoi(in.Turns); err != nil || in.options.Turns < 1 {
		return invalid(fmt.Sprintf("%.40q is not a number of turns", in.Turns), "write chela threads undo 2")
	}
	return c.rewind(ctx, b, api.ThreadsUndo, in.rewindMove)
}

type restoreArgs struct {
	Place string `arg:"PLACE"`
	rewindMove
}

func (c *commands) restore(ctx context.Context, b *Backend, in restoreArgs) error {
	in.options.To = in.Place
	return c.rewind(ctx, b, api.ThreadsRestore, in.rewindMove)
}

type checkpointArgs struct {
	Name string `arg:"[NAME]"`
	rewindFlags
}

func (c *commands) checkpoint(ctx context.Context, b *Backend, in checkpointArgs) error {
	ref, err := c.find(ctx, b, in.rewindFlags)
	if err != nil {
		return err
	}
	made, err := api.Call(ctx, b, api.ThreadsCheckpoint, api.CheckpointRequest{
		ThreadRef: ref, Checkpoint: api.NewCheckpoint{Name: in.Name, Key: in.Key},
	})
	return answer(c, made, terminal.NotThere(err, "see chela threads list"), func(made chela.Checkpoint) {
		c.Fields("thread", made.Thread, "checkpoint", made.Name, "entry", entryPlace(made.Entry))
	})
}

type branchArgs struct {
	Place string `arg:"[PLACE]"`
	rewindFlags
}

func (c *commands) branch(ctx context.Context, b *Backend, in branchArgs) error {
	ref, err := c.find(ctx, b, in.rewindFlags)
	if err != nil {
		return err
	}
	t, err := api.Call(ctx, b, api.ThreadsBranch, api.BranchRequest{ThreadRef: ref, Branch: api.NewBranch{From: in.Place, Key: in.Key}})
	return answer(c, t, terminal.NotThere(err, "see chela threads list"), func(t chela.Thread) {
		c.Fields("session", t.Session, "thread", t.ID, "entry", entryPlace(t.Head))
	})
}

// rewindFields formats the possible targets in a thread for people.
func rewindFields(id chela.ThreadID, p api.Places) (rows []any) {
	for _, point := range p.Checkpoints {
		rows = append(rows, "checkpoint", fmt.Sprintf("%s at %s, %s", point.Name, entryPlace(point.Entry), terminal.Moment(point.CreatedAt)))
	}
	for _, b := range p.Branches {
		name, other := "branch", b.Thread
		if b.Thread == id {
			name, other = "branch of", b.Origin
		}
		rows = append(rows, name, fmt.Sprintf("%s at %s", other, entryPlace(b.Entry)))
	}
	if r := p.Redo; r != nil {
		rows = append(rows, "redo", fmt.Sprintf("goes back to %s, before the %s of %s", entryPlace(r.From), r.Kind, terminal.Moment(r.DoneAt)))
	}
	return rows
}

// entryPlace names an entry for people.
func entryPlace(id chela.EntryID) string { return string(cmp.Or(id, "the beginning")) }
