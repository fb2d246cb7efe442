// Package rewinds holds the commands that move a thread along its tree: undo,
// redo, restore, checkpoint and branch.
package rewinds

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
	"chela/internal/rewind"
)

// A Home is what the commands ask of an open home.
type Home struct {
	// Rewind is undo, redo or restore. It stops a running turn first. What
	// cannot be put back is a Conflict whose detail shows the difference.
	Rewind     func(ctx context.Context, id chela.ThreadID, kind chela.RewindKind, q api.Rewinding) (chela.Rewind, error)
	Checkpoint func(ctx context.Context, id chela.ThreadID, q api.NewCheckpoint) (chela.Checkpoint, error)

	// Branch begins a thread and makes it the current one of its session.
	Branch func(ctx context.Context, id chela.ThreadID, q api.NewBranch) (chela.Thread, error)

	// Places returns where a thread can go from where it is.
	Places func(ctx context.Context, id chela.ThreadID) (api.Places, error)

	// Session returns the session named key.
	Session func(ctx context.Context, key chela.SessionKey) (api.Session, error)
}

// A RunFunc is what a command does in an open home.
type RunFunc func(ctx context.Context, h Home, args []string) error

// InFunc returns what a command runs to open a home for f.
type InFunc func(f RunFunc) func(*cobra.Command, []string) error

// Commands returns the commands. They write to p.
func Commands(p *manners.Printer, in InFunc) []*cobra.Command {
	c := commands{p: p, in: in}
	return []*cobra.Command{c.undo(), c.redo(), c.restore(), c.checkpoint(), c.branch()}
}

type commands struct {
	p  *manners.Printer
	in InFunc
}

// flags are how a command names its thread and its request.
type flags struct {
	thread, session string
	key             string
	keepFiles       bool
}

// on adds the flags to a command.
func (f *flags) on(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&f.thread, "thread", "", "thread; without it the current one of the session")
	cmd.Flags().StringVar(&f.session, "session", string(chela.MainKey(chela.MainAgent)), "session key")
	cmd.Flags().StringVar(&f.key, "key", "", "names the request: sent again, it is not carried out again")
	return cmd
}

// moving adds the flags of a command that moves a head.
func (f *flags) moving(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&f.keepFiles, "keep-files", false, "leave files and documents as they are")
	return f.on(cmd)
}

// find returns the thread that the flags name.
func (f *flags) find(ctx context.Context, h Home) (chela.ThreadID, error) {
	if f.thread != "" {
		return chela.ThreadID(f.thread), nil
	}
	s, err := h.Session(ctx, chela.SessionKey(f.session))
	return s.Thread, manners.NotThere(err, "see chela sessions list")
}

func (c commands) undo() *cobra.Command {
	var f flags
	return f.moving(&cobra.Command{
		Use: "undo [TURNS]", Short: "Undo the last turn, or several, and put their files back", Args: manners.Between(0, 1),
		RunE: c.in(func(ctx context.Context, h Home, args []string) error {
			q := api.Rewinding{Turns: 1}
			if len(args) > 0 {
				var err error
				if q.Turns, err = strconv.Atoi(args[0]); err != nil || q.Turns < 1 {
					return chela.E(chela.Invalid, fmt.Sprintf("%.40q is not a number of turns", args[0])).WithHint("write chela threads undo 2")
				}
			}
			return c.move(ctx, h, move{f, chela.RewindUndo, q})
		}),
	})
}

func (c commands) redo() *cobra.Command {
	var f flags
	return f.moving(&cobra.Command{
		Use: "redo", Short: "Take back the last undo or restore", Args: manners.Exactly(0),
		RunE: c.in(func(ctx context.Context, h Home, _ []string) error {
			return c.move(ctx, h, move{f, chela.RewindRedo, api.Rewinding{}})
		}),
	})
}

func (c commands) restore() *cobra.Command {
	var f flags
	return f.moving(&cobra.Command{
		Use: "restore PLACE", Short: "Go to a checkpoint, an entry or the end of a turn", Args: manners.Exactly(1),
		RunE: c.in(func(ctx context.Context, h Home, args []string) error {
			return c.move(ctx, h, move{f, chela.RewindRestore, api.Rewinding{To: args[0]}})
		}),
	})
}

// A move is what a command asks for.
type move struct {
	flags
	kind chela.RewindKind
	q    api.Rewinding
}

// move moves the head of a thread and tells what became of the files.
func (c commands) move(ctx context.Context, h Home, m move) error {
	id, err := m.find(ctx, h)
	if err != nil {
		return err
	}
	m.q.Key, m.q.KeepFiles = m.key, m.keepFiles
	v, err := h.Rewind(ctx, id, m.kind, m.q)
	switch {
	case err != nil:
		return manners.NotThere(err, "see chela threads list")
	case c.p.JSON:
		return c.p.Document(v)
	}
	c.p.Text(terminal.Visible(rewind.Report(v)))
	return nil
}

func (c commands) checkpoint() *cobra.Command {
	var f flags
	return f.on(&cobra.Command{
		Use: "checkpoint [NAME]", Short: "Name the place where a thread is", Args: manners.Between(0, 1),
		RunE: c.in(func(ctx context.Context, h Home, args []string) error {
			id, err := f.find(ctx, h)
			if err != nil {
				return err
			}
			made, err := h.Checkpoint(ctx, id, api.NewCheckpoint{Name: only(args), Key: f.key})
			switch {
			case err != nil:
				return manners.NotThere(err, "see chela threads list")
			case c.p.JSON:
				return c.p.Document(made)
			}
			c.p.Fields([2]string{"thread", string(made.Thread)}, [2]string{"checkpoint", made.Name}, [2]string{"entry", place(made.Entry)})
			return nil
		}),
	})
}

func (c commands) branch() *cobra.Command {
	var f flags
	return f.on(&cobra.Command{
		Use: "branch [PLACE]", Short: "Begin a thread that branches off here, or at a place", Args: manners.Between(0, 1),
		RunE: c.in(func(ctx context.Context, h Home, args []string) error {
			id, err := f.find(ctx, h)
			if err != nil {
				return err
			}
			t, err := h.Branch(ctx, id, api.NewBranch{From: only(args), Key: f.key})
			switch {
			case err != nil:
				return manners.NotThere(err, "see chela threads list")
			case c.p.JSON:
				return c.p.Document(t)
			}
			c.p.Fields([2]string{"session", string(t.Session)}, [2]string{"thread", string(t.ID)}, [2]string{"entry", place(t.Head)})
			return nil
		}),
	})
}

// only returns the argument of a command that takes at most one.
func only(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Fields say where a thread can go, for whoever looks at it.
func Fields(id chela.ThreadID, p api.Places) (rows [][2]string) {
	for _, point := range p.Checkpoints {
		rows = append(rows, [2]string{"checkpoint", fmt.Sprintf("%s at %s, %s", point.Name, place(point.Entry), terminal.Moment(point.CreatedAt))})
	}
	for _, b := range p.Branches {
		if b.Thread == id {
			rows = append(rows, [2]string{"branch of", fmt.Sprintf("%s at %s", b.Origin, place(b.Entry))})
		} else {
			rows = append(rows, [2]string{"branch", fmt.Sprintf("%s at %s", b.Thread, place(b.Entry))})
		}
	}
	if p.Redo != nil {
		rows = append(rows, [2]string{"redo", fmt.Sprintf("goes back to %s, before the %s of %s", place(p.Redo.From), p.Redo.Kind, terminal.Moment(p.Redo.DoneAt))})
	}
	return rows
}

// place names an entry for people.
func place(id chela.EntryID) string {
	if id == "" {
		return "the beginning"
	}
	return string(id)
}
