package cli

// This part of the package holds the commands for the documents of agents:
// chela memory.

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

// DocumentAPI is the interface that the commands need of an open home.
type DocumentAPI struct {
	Documents documents

	// Edit makes a new version of a document, and returns it without its text.
	// Its key and its author may be omitted.
	Edit func(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
}

// documents reads documents. A malformed path is Invalid, a missing document
// NotFound.
type documents interface {
	// Version returns a document at a version; 0 is the current one.
	Version(ctx context.Context, agent, path string, version int64) (chela.Document, error)
	// History returns the stored versions, newest first, without texts.
	History(ctx context.Context, agent, path string) ([]chela.Document, error)
	// Tree returns the contents of a folder down to a depth; 0 is all of it.
	Tree(ctx context.Context, agent, folder string, depth int) ([]chela.DocumentNode, error)
}

// A documentProgram holds the dependencies of the commands.
type documentProgram struct {
	*manners.Printer
	Stdin io.Reader

	// Open opens a home and passes it to use.
	Open func(ctx context.Context, use func(DocumentAPI) error) error

	agent string
}

// newDocumentCommand returns the commands.
func newDocumentCommand(program documentProgram) *cobra.Command {
	p := &program
	cmd := manners.Group("memory", "Show and edit an agent's documents",
		p.readCommand(), p.writeCommand(), p.treeCommand(), p.historyCommand(), p.deleteCommand())
	cmd.PersistentFlags().StringVar(&p.agent, "agent", chela.MainAgent, "whose documents")
	return cmd
}

func (p *documentProgram) readCommand() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use: "read PATH", Short: "Print a document", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h DocumentAPI, args []string) error {
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
	cmd.Flags().Int64Var(&version, "version", 0, "version to show (default: the current one)")
	return cmd
}

func (p *documentProgram) writeCommand() *cobra.Command {
	var grow bool
	var expect int64
	cmd := &cobra.Command{
		Use: "write PATH [TEXT]", Short: "Write a document from TEXT or standard input", Args: manners.AtLeast(1),
		Example: "  chela memory write --append MEMORY.md -- \"- The door code is with the neighbour.\"\n" +
			"  chela memory write knowledge/wine.md < wine.md",
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return chela.E(chela.Invalid, err.Error()).WithHint(`put "--" before a TEXT that begins with "-"`)
	})
	cmd.RunE = p.run(func(ctx context.Context, h DocumentAPI, args []string) error {
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

// text returns the text to write: the words of the command line, or standard
// input.
func (p *documentProgram) text(words []string) (string, error) {
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

func (p *documentProgram) treeCommand() *cobra.Command {
	var depth int
	cmd := &cobra.Command{
		Use: "tree [FOLDER]", Short: "List documents and folders", Args: manners.Between(0, 1),
		RunE: p.run(func(ctx context.Context, h DocumentAPI, args []string) error {
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

func (p *documentProgram) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history PATH", Short: "List the versions that are kept of a document, the newest first", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h DocumentAPI, args []string) error {
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

func (p *documentProgram) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete PATH", Short: "Delete a document; its versions are kept", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, h DocumentAPI, args []string) error {
			return p.edited(h.Edit(ctx, chela.DocumentEdit{Kind: chela.EditDelete, Agent: p.agent, Path: args[0]}))
		}),
	}
}

// edited prints the version that an edit made.
func (p *documentProgram) edited(d chela.Document, err error) error {
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

// run returns the body of a command on the documents of the home.
func (p *documentProgram) run(work func(context.Context, DocumentAPI, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.Open(cmd.Context(), func(h DocumentAPI) error { return work(cmd.Context(), h, args) })
	}
}
