package cli

// This part of the package holds the commands for the documents of agents:
// chela memory.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// memoryCommand returns the commands for documents.
func (c *commands) memoryCommand() *cobra.Command {
	return console.Group("memory", "Show and edit an agent's documents",
		named("read", verb(c, api.DocumentsShow, c.document)), c.documentWrite(), c.documentTree(),
		named("history", listing(c, api.DocumentsVersions, documentVersions)), verb(c, api.DocumentsDelete, c.documentEdited))
}

// document prints a document.
func (c *commands) document(d chela.Document) error {
	switch {
	case d.Deleted:
		c.p.Note(fmt.Sprintf("version %d says that %s was deleted", d.Version, d.Path))
	case d.Text != "":
		c.p.Line(d.Text)
	}
	return nil
}

func (c *commands) documentWrite() *cobra.Command {
	var q api.DocumentWrite
	var expect int64
	cmd := &cobra.Command{
		Use: "write PATH [TEXT]", Short: "Write a document from TEXT or standard input", Args: console.AtLeast(1),
		Example: "  chela memory write --append MEMORY.md -- \"- The door code is with the neighbour.\"\n" +
			"  chela memory write knowledge/wine.md < wine.md",
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return chela.E(chela.Invalid, err.Error()).WithHint(`put "--" before a TEXT that begins with "-"`)
	})
	cmd.RunE = c.inHome(func(ctx context.Context, b *Backend, args []string) error {
		if q.Path = args[0]; cmd.Flags().Changed("expect") {
			q.Expect = &expect
		}
		var err error
		if q.Text, err = c.documentText(args[1:]); err != nil {
			return err
		}
		d, err := api.Call(ctx, b.API, api.DocumentsWrite, q)
		switch {
		case err != nil:
			return err
		case c.p.JSON:
			return c.p.Document(d)
		}
		return c.documentEdited(d)
	})
	cmd.Flags().StringVar(&q.Agent, "agent", chela.MainAgent, "the agent that owns the document")
	cmd.Flags().BoolVar(&q.Append, "append", false, "add to the end instead of replacing it")
	cmd.Flags().Int64Var(&expect, "expect", 0, "write only if it is at this version; 0 if it is new")
	return cmd
}

// documentText returns the text to write: the words of the command line, or standard
// input.
func (c *commands) documentText(words []string) (string, error) {
	text := strings.Join(words, " ")
	switch {
	case text != "":
		return text + "\n", nil
	case terminal.IsPiped(c.Stdin):
		raw, err := io.ReadAll(io.LimitReader(c.Stdin, chela.MaxDocumentBytes+1))
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

func (c *commands) documentTree() *cobra.Command {
	return derived(c, api.DocumentsTree, func(ctx context.Context, b *Backend, q api.DocumentTreeQuery) error {
		nodes, err := api.All(ctx, b.API, api.DocumentsTree, q)
		if err != nil {
			return err
		}
		if len(nodes) == 0 {
			c.p.Note(cmp.Or(q.Agent, chela.MainAgent) + " has no documents yet; the first ones come with chela init, or with the first message")
		}
		return console.List(c.p, nodes, []string{"PATH", "VERSION", "SIZE", "WRITTEN"}, nodeRow)
	})
}

func nodeRow(n chela.DocumentNode) []string {
	version := fmt.Sprint(n.Version)
	if n.IsFolder() {
		version = ""
	}
	return []string{n.Path, version, fmt.Sprint(n.Size), terminal.Moment(n.WrittenAt)}
}

var documentVersions = table[chela.Document]{
	head: []string{"VERSION", "WRITTEN", "SIZE", "BY", "TURN"},
	row: func(d chela.Document) []string {
		size := fmt.Sprint(d.Size)
		if d.Deleted {
			size = "deleted"
		}
		by := cmp.Or(d.Author.By, string(d.Author.Call))
		return []string{fmt.Sprint(d.Version), terminal.Moment(d.WrittenAt), size, by, string(d.Author.Turn)}
	},
}

// documentEdited prints the version that an edit made.
func (c *commands) documentEdited(d chela.Document) error {
	size := fmt.Sprintf("%d bytes", d.Size)
	if d.Deleted {
		size = "deleted"
	}
	c.p.Fields([2]string{"document", d.Path}, [2]string{"version", fmt.Sprint(d.Version)}, [2]string{"size", size})
	return nil
}
