package cli

// This part of the package holds the commands that move a thread along its
// tree: undo, redo, restore, checkpoint and branch.

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/rewind"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// rewindCommands returns the commands.
func (c *commands) rewindCommands() []*cobra.Command {
	return []*cobra.Command{c.undo(), c.redo(), c.restore(), c.checkpoint(), c.branch()}
}

// rewindFlags identify the thread and the request of a command.
type rewindFlags struct {
	thread, session string
	key             string
	keepFiles       bool
}

// on adds the flags to a command.
func (f *rewindFlags) on(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&f.thread, "thread", "", "thread; without it the current one of the session")
	cmd.Flags().StringVar(&f.session, "session", string(chela.MainKey(chela.MainAgent)), "session key")
	cmd.Flags().StringVar(&f.key, "key", "", "names the request: sent again, it is not carried out again")
	return cmd
}

// moving adds the flags of a command that moves a head.
func (f *rewindFlags) moving(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&f.keepFiles, "keep-files", false, "leave files and documents as they are")
	return f.on(cmd)
}

// find returns the thread that the flags name.
func (f *rewindFlags) find(ctx context.Context, home caller) (chela.ThreadID, error) {
	if f.thread != "" {
		return chela.ThreadID(f.thread), nil
	}
	s, err := api.Call(ctx, home, api.SessionsShow, api.SessionRef{Key: chela.SessionKey(f.session)})
	return s.Thread, console.NotThere(err, "see chela sessions list")
}

func (c *commands) undo() *cobra.Command {
	var f rewindFlags
	return f.moving(&cobra.Command{
		Use: "undo [TURNS]", Short: "Undo the last turn, or several, and put their files back", Args: console.Between(0, 1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			q := api.RewindOptions{Turns: 1}
			if len(args) > 0 {
				var err error
				if q.Turns, err = strconv.Atoi(args[0]); err != nil || q.Turns < 1 {
					return chela.E(chela.Invalid, fmt.Sprintf("%.40q is not a number of turns", args[0])).WithHint("write chela threads undo 2")
				}
			}
			return c.rewind(ctx, b, rewindMove{f, api.ThreadsUndo, q})
		}),
	})
}

func (c *commands) redo() *cobra.Command {
	var f rewindFlags
	return f.moving(&cobra.Command{
		Use: "redo", Short: "Take back the last undo or restore", Args: console.Exactly(0),
		RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
			return c.rewind(ctx, b, rewindMove{f, api.ThreadsRedo, api.RewindOptions{}})
		}),
	})
}

func (c *commands) restore() *cobra.Command {
	var f rewindFlags
	return f.moving(&cobra.Command{
		Use: "restore PLACE", Short: "Go to a checkpoint, an entry or the end of a turn", Args: console.Exactly(1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			return c.rewind(ctx, b, rewindMove{f, api.ThreadsRestore, api.RewindOptions{To: args[0]}})
		}),
	})
}

// A rewindMove is the request of a command.
type rewindMove struct {
	rewindFlags
	operation api.Operation[api.ThreadMove, chela.Rewind]
	q         api.RewindOptions
}

// rewind moves the head of a thread and reports the changes of files.
func (c *commands) rewind(ctx context.Context, b *Backend, m rewindMove) error {
	id, err := m.find(ctx, b.API)
	if err != nil {
		return err
	}
	m.q.Key, m.q.KeepFiles = m.key, m.keepFiles
	v, err := api.Call(ctx, b.API, m.operation, api.ThreadMove{ThreadRef: api.ThreadRef{ID: id}, To: m.q})
	switch {
	case err != nil:
		return console.NotThere(err, "see chela threads list")
	case c.p.JSON:
		return c.p.Document(v)
	}
	c.p.Text(terminal.Visible(rewind.Report(v)))
	return nil
}

func (c *commands) checkpoint() *cobra.Command {
	var f rewindFlags
	return f.on(&cobra.Command{
		Use: "checkpoint [NAME]", Short: "Name the place where a thread is", Args: console.Between(0, 1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			id, err := f.find(ctx, b.API)
			if err != nil {
				return err
			}
			made, err := api.Call(ctx, b.API, api.ThreadsCheckpoint, api.CheckpointRequest{
				ThreadRef: api.ThreadRef{ID: id}, Checkpoint: api.NewCheckpoint{Name: onlyArg(args), Key: f.key},
			})
			switch {
			case err != nil:
				return console.NotThere(err, "see chela threads list")
			case c.p.JSON:
				return c.p.Document(made)
			}
			c.p.Fields([2]string{"thread", string(made.Thread)}, [2]string{"checkpoint", made.Name}, [2]string{"entry", entryPlace(made.Entry)})
			return nil
		}),
	})
}

func (c *commands) branch() *cobra.Command {
	var f rewindFlags
	return f.on(&cobra.Command{
		Use: "branch [PLACE]", Short: "Create a thread that branches off here, or at a place", Args: console.Between(0, 1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			id, err := f.find(ctx, b.API)
			if err != nil {
				return err
			}
			t, err := api.Call(ctx, b.API, api.ThreadsBranch, api.BranchRequest{
				ThreadRef: api.ThreadRef{ID: id}, Branch: api.NewBranch{From: onlyArg(args), Key: f.key},
			})
			switch {
			case err != nil:
				return console.NotThere(err, "see chela threads list")
			case c.p.JSON:
				return c.p.Document(t)
			}
			c.p.Fields([2]string{"session", string(t.Session)}, [2]string{"thread", string(t.ID)}, [2]string{"entry", entryPlace(t.Head)})
			return nil
		}),
	})
}

// onlyArg returns the argument of a command that takes at most one.
func onlyArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// rewindFields formats the possible targets in a thread for people.
func rewindFields(id chela.ThreadID, p api.Places) (rows [][2]string) {
	for _, point := range p.Checkpoints {
		rows = append(rows, [2]string{"checkpoint", fmt.Sprintf("%s at %s, %s", point.Name, entryPlace(point.Entry), terminal.Moment(point.CreatedAt))})
	}
	for _, b := range p.Branches {
		if b.Thread == id {
			rows = append(rows, [2]string{"branch of", fmt.Sprintf("%s at %s", b.Origin, entryPlace(b.Entry))})
		} else {
			rows = append(rows, [2]string{"branch", fmt.Sprintf("%s at %s", b.Thread, entryPlace(b.Entry))})
		}
	}
	if p.Redo != nil {
		rows = append(rows, [2]string{"redo", fmt.Sprintf("goes back to %s, before the %s of %s", entryPlace(p.Redo.From), p.Redo.Kind, terminal.Moment(p.Redo.DoneAt))})
	}
	return rows
}

// entryPlace names an entry for people.
func entryPlace(id chela.EntryID) string {
	if id == "" {
		return "the beginning"
	}
	return string(id)
}
