package command

import (
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/lane"
	"chela/internal/platform/excerpt"
)

// Limits of /memory.
const (
	maxDocuments = 500
	maxShown     = 50
	maxText      = 8000 // bytes of a document
)

// memory lists the documents of the agent, or shows the one whose path or title
// matches; several matches are listed. In a group private documents are hidden.
func (i *Interpreter) memory(ctx context.Context, g given) (lane.Command, error) {
	paths, err := i.paths(ctx, g)
	if err != nil {
		return nil, err
	}
	if g.args == "" {
		return listed("Documents:", paths)
	}
	var found []string
	for _, path := range paths {
		d, err := i.document(ctx, g, path)
		switch {
		case chela.KindOf(err) == chela.NotFound: // deleted in between
		case err != nil:
			return nil, err
		case path == g.args:
			return reply(shown(d)), nil
		case contains(path, g.args) || contains(title(d.Text), g.args):
			found = append(found, path)
		}
	}
	switch len(found) {
	case 0:
		return nil, chela.E(chela.NotFound, "no document has "+Quoted(g.args)+" in its path or title").WithHint("see /memory")
	case 1:
		d, err := i.document(ctx, g, found[0])
		return reply(shown(d)), err
	default:
		return listed(fmt.Sprintf("%d documents match:", len(found)), found)
	}
}

// document returns a document of the agent.
func (i *Interpreter) document(ctx context.Context, g given, path string) (chela.Document, error) {
	ref := api.DocumentRef{Agent: g.session.Agent, Path: path}
	return api.Call(ctx, i.api(g), api.DocumentsShow, api.DocumentQuery{DocumentRef: ref})
}

// paths returns the paths of the documents that may be shown.
func (i *Interpreter) paths(ctx context.Context, g given) ([]string, error) {
	nodes, err := api.All(ctx, i.api(g), api.DocumentsTree, api.DocumentTreeQuery{Agent: g.session.Agent, Limit: api.MaxPage})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, n := range nodes {
		if g.inGroup() && chela.IsPrivateDocument(n.Path) {
			continue
		}
		if !n.IsFolder() && len(paths) < maxDocuments {
			paths = append(paths, n.Path)
		}
	}
	return paths, nil
}

func listed(head string, paths []string) (lane.Command, error) {
	if len(paths) == 0 {
		return reply("There are no documents."), nil
	}
	said := []string{head}
	for _, path := range paths[:min(len(paths), maxShown)] {
		said = append(said, "- "+path)
	}
	if more := len(paths) - maxShown; more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return reply(strings.Join(said, "\n")), nil
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// title is the first line of a document that says something.
func title(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" {
			return line
		}
	}
	return ""
}

// shown formats a document for people, truncated to the size of a message.
func shown(d chela.Document) string {
	text, rest := d.Text, ""
	if len(text) > maxText {
		text = excerpt.Marked(text, maxText)
		rest = "\nchela memory read " + d.Path + " shows all of it."
	}
	return d.Path + ":\n\n" + strings.TrimRight(text, "\n") + rest
}
