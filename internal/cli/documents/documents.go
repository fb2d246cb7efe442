// Package documents holds the commands on the documents of agents: chela memory.
package documents

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
)

// A Home is what the commands need of an open home.
type Home struct {
	Documents documents

	// Edit makes a new version of a document, and returns it without its text.
	// Its key, and who makes it, need not be said.
	Edit func(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
}

// documents reads documents. A path that cannot be is Invalid, one of which
// there is nothing NotFound.
type documents interface {
	// Version returns a document as it was at a version; 0 is as it is.
	Version(ctx context.Context, agent, path string, version int64) (chela.Document, error)
	// History returns the versions that are kept, newest first, without texts.
	History(ctx context.Context, agent, path string) ([]chela.Document, error)
	// Tree returns what is below a folder down to a depth; 0 is all of it.
	Tree(ctx context.Context, agent, folder string, depth int) ([]chela.DocumentNode, error)
}

// A Program is what the commands run in.
type Program struct {
	*manners.Printer
	Stdin io.Reader

	// Open hands an open home to use.
	Open func(ctx context.Context, use func(Home) error) error

	agent string
}

// Command returns the commands.
func Command(program Program) *cobra.Command {
	p := &program
	cmd := manners.Group("memory", "Look at what an agent remembers, and change it",
		p.readCommand(), p.writeCommand(), p.treeCommand(), p.historyCommand(), p.deleteCommand())
	cmd.PersistentFlags().StringVar(&p.agent, "agent", chela.MainAgent, "whose documents")
	return cmd
}

func (p *Program) readCommand() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use: "read PATH", Short: "Print a document", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h Home, args []string) error {
			if version < 0 {
				return chela.E(chela.Invalid, fmt.Sprintf("there is no version %d", version)).WithHint("see chela memory history PATH")
			}
			d, err := h.Documents.Version(ctx, p.agent, args[0], version)
			switch {
			case err != nil:
				return err
			case p.JSON:
				return p.Document(d)
			case d.Deleted:
				p.Note(fmt.Sprintf("version %d says that %s was deleted", d.Version, d.Path))
			case d.Text != "":
				p.Line(d.Text)
			}
			return nil
		}),
	}
	cmd.Flags().Int64Var(&version, "version", 0, "what it said at a version (default: what it says now)")
	return cmd
}

func (p *Program) writeCommand() *cobra.Command {
	var grow bool
	var expect int64
	cmd := &cobra.Command{
		Use: "write PATH [TEXT]", Short: "Write a document; without a TEXT what is piped in", Args: manners.AtLeast(1),
		Example: "  chela memory write --append MEMORY.md -- \"- The door code is with the neighbour.\"\n" +
			"  chela memory write knowledge/wine.md < wine.md",
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return chela.E(chela.Invalid, err.Error()).WithHint(`put "--" before a TEXT that begins with "-"`)
	})
	cmd.RunE = p.run(func(ctx context.Context, h Home, args []string) error {
		e := chela.DocumentEdit{Kind: chela.EditWrite, Agent: p.agent, Path: args[0]}
		if grow {
			e.Kind = chela.EditAppend
		}
		if cmd.Flags().Changed("expect") {
			e.Expect = &expect
		}
		var err error
		if e.Text, err = p.text(args[1:]); err != nil {
			return err
		}
		return p.edited(h.Edit(ctx, e))
	})
	cmd.Flags().BoolVar(&grow, "append", false, "add to the end instead of replacing it")
	cmd.Flags().Int64Var(&expect, "expect", 0, "write only if it is at this version; 0 if it is new")
	return cmd
}

// text returns what is to be written: the words of the command line, or all that
// is piped in.
func (p *Program) text(words []string) (string, error) {
	text := strings.Join(words, " ")
	switch {
	case text != "":
		return text + "\n", nil
	case terminal.IsPiped(p.Stdin):
		raw, err := io.ReadAll(io.LimitReader(p.Stdin, chela.MaxDocumentBytes+1))
		if err != nil {
			return "", chela.E(chela.Unavailable, "standard input cannot be read").WithHint("see where it comes from").Because(err)
		}
		text = string(raw)
	}
	if strings.TrimSpace(text) == "" {
		return "", chela.E(chela.Invalid, "there is nothing to write").
			WithHint(`write chela memory write PATH "TEXT", or pipe it in; chela memory delete PATH takes a document away`)
	}
	return text, nil
}

func (p *Program) treeCommand() *cobra.Command {
	var depth int
	cmd := &cobra.Command{
		Use: "tree [FOLDER]", Short: "List documents and folders", Args: manners.Between(0, 1),
		RunE: p.run(func(ctx context.Context, h Home, args []string) error {
			if depth < 0 {
				return chela.E(chela.Invalid, fmt.Sprintf("--depth cannot be %d", depth)).WithHint("use 1 and more, or 0 for everything")
			}
			nodes, err := h.Documents.Tree(ctx, p.agent, strings.Join(args, ""), depth)
			if err != nil {
				return err
			}
			if len(nodes) == 0 {
				p.Note(p.agent + " has no documents yet; the first ones come with chela init, or with the first message")
			}
			return manners.List(p.Printer, nodes, []string{"PATH", "VERSION", "SIZE", "WRITTEN"}, nodeRow)
		}),
	}
	cmd.Flags().IntVar(&depth, "depth", 0, "levels of folders to show (default: all)")
	return cmd
}

func nodeRow(n chela.DocumentNode) []string {
	version := fmt.Sprint(n.Version)
	if n.IsFolder() {
		version = ""
	}
	return []string{n.Path, version, fmt.Sprint(n.Size), terminal.Moment(n.WrittenAt)}
}

func (p *Program) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history PATH", Short: "List the versions that are kept of a document, the newest first", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h Home, args []string) error {
			versions, err := h.Documents.History(ctx, p.agent, args[0])
			if err != nil {
				return err
			}
			return manners.List(p.Printer, versions, []string{"VERSION", "WRITTEN", "SIZE", "BY", "TURN"}, versionRow)
		}),
	}
}

func versionRow(d chela.Document) []string {
	size := fmt.Sprint(d.Size)
	if d.Deleted {
		size = "deleted"
	}
	by := d.Author.By
	if by == "" {
		by = string(d.Author.Call)
	}
	return []string{fmt.Sprint(d.Version), terminal.Moment(d.WrittenAt), size, by, string(d.Author.Turn)}
}

func (p *Program) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete PATH", Short: "Delete a document; what it said is kept as versions", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h Home, args []string) error {
			return p.edited(h.Edit(ctx, chela.DocumentEdit{Kind: chela.EditDelete, Agent: p.agent, Path: args[0]}))
		}),
	}
}

// edited prints the version that an edit made.
func (p *Program) edited(d chela.Document, err error) error {
	if err != nil {
		return err
	}
	if p.JSON {
		return p.Document(d)
	}
	size := fmt.Sprintf("%d bytes", d.Size)
	if d.Deleted {
		size = "deleted"
	}
	p.Fields([2]string{"document", d.Path}, [2]string{"version", fmt.Sprint(d.Version)}, [2]string{"size", size})
	return nil
}

// run returns a command's work on the documents of the home.
func (p *Program) run(work func(context.Context, Home, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.Open(cmd.Context(), func(h Home) error { return work(cmd.Context(), h, args) })
	}
}
