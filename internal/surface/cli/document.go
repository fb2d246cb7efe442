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
	"chela/internal/api"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

// documentCommands are the commands on the documents of an agent.
type documentCommands struct {
	*manners.Printer
	c     *commands
	agent string
}

// memoryCommand returns the commands for documents.
func (c *commands) memoryCommand() *cobra.Command {
	p := &documentCommands{Printer: c.p, c: c}
	cmd := manners.Group("memory", "Show and edit an agent's documents",
		p.readCommand(), p.writeCommand(), p.treeCommand(), p.historyCommand(), p.deleteCommand())
	cmd.PersistentFlags().StringVar(&p.agent, "agent", chela.MainAgent, "whose documents")
	return cmd
}

// ref names a document by an argument.
func (p *documentCommands) ref(path string) api.DocumentRef {
	return api.DocumentRef{Agent: p.agent, Path: path}
}

func (p *documentCommands) readCommand() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use: "read PATH", Short: "Print a document", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, home caller, args []string) error {
			if version < 0 {
				return chela.E(chela.Invalid, fmt.Sprintf("there is no version %d", version)).WithHint("see chela memory history PATH")
			}
			d, err := api.Call(ctx, home, api.DocumentsShow, api.DocumentQuery{DocumentRef: p.ref(args[0]), Version: version})
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

func (p *documentCommands) writeCommand() *cobra.Command {
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
	cmd.RunE = p.run(func(ctx context.Context, home caller, args []string) error {
		q := api.DocumentWrite{Agent: p.agent, Path: args[0], Append: grow}
		if cmd.Flags().Changed("expect") {
			q.Expect = &expect
		}
		var err error
		if q.Text, err = p.text(args[1:]); err != nil {
			return err
		}
		return p.edited(api.Call(ctx, home, api.DocumentsWrite, q))
	})
	cmd.Flags().BoolVar(&grow, "append", false, "add to the end instead of replacing it")
	cmd.Flags().Int64Var(&expect, "expect", 0, "write only if it is at this version; 0 if it is new")
	return cmd
}

// text returns the text to write: the words of the command line, or standard
// input.
func (p *documentCommands) text(words []string) (string, error) {
	text := strings.Join(words, " ")
	switch {
	case text != "":
		return text + "\n", nil
	case terminal.IsPiped(p.c.Stdin):
		raw, err := io.ReadAll(io.LimitReader(p.c.Stdin, chela.MaxDocumentBytes+1))
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

func (p *documentCommands) treeCommand() *cobra.Command {
	var depth int
	cmd := &cobra.Command{
		Use: "tree [FOLDER]", Short: api.DocumentsTree.Summary, Args: manners.Between(0, 1),
		RunE: p.run(func(ctx context.Context, home caller, args []string) error {
			if depth < 0 {
				return chela.E(chela.Invalid, fmt.Sprintf("--depth cannot be %d", depth)).WithHint("use 1 and more, or 0 for everything")
			}
			nodes, err := api.All(ctx, home, api.DocumentsTree, api.DocumentTreeQuery{Agent: p.agent, Path: strings.Join(args, ""), Depth: depth})
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

func (p *documentCommands) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history PATH", Short: "List the retained versions of a document, newest first", Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, home caller, args []string) error {
			versions, err := api.All(ctx, home, api.DocumentsVersions, api.DocumentVersionsQuery{DocumentRef: p.ref(args[0])})
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

func (p *documentCommands) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete PATH", Short: api.DocumentsDelete.Summary, Args: manners.Exactly(1),
		RunE: p.run(func(ctx context.Context, home caller, args []string) error {
			return p.edited(api.Call(ctx, home, api.DocumentsDelete, p.ref(args[0])))
		}),
	}
}

// edited prints the version that an edit made.
func (p *documentCommands) edited(d chela.Document, err error) error {
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
func (p *documentCommands) run(work func(context.Context, caller, []string) error) func(*cobra.Command, []string) error {
	return p.c.inHome(func(ctx context.Context, b *Backend, args []string) error { return work(ctx, b.API, args) })
}
