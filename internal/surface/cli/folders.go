package cli

import (
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/terminal"
)

// foldersCommand returns the commands about the folders that agents work in.
func (c *commands) foldersCommand() *cobra.Command {
	trust := placed(c, api.FoldersTrust, func(in *api.NewFolder) *string { return &in.Path })
	trust.Long = "Let an agent work in a folder: its tools and commands may read all files there, and change them. Commands\n" +
		"have no other files of yours. In this folder, and in folders below it that are no other git repository, chela\n" +
		"and chela ask then work on its files, in a session of its own."
	trust.Example = "  chela folders trust ~/code/site\n  cd ~/code/site && chela ask \"why does the build fail?\"\n  chela folders forget site"
	attach := placed(c, api.FoldersAttach, func(in *api.NewFolderRoot) *string { return &in.Body.Path })
	attach.Long = "Let the session of a folder read another folder, as /roots/NAME, and change nothing in it."
	attach.Example = "  chela folders attach site ~/code/library\n  chela folders detach site library"
	return terminal.Group("folders", "Folders of yours that agents work in",
		listing(c, api.FoldersList, folders), trust, verb(c, api.FoldersForget, c.folder), attach, verb(c, api.FoldersDetach, c.folder))
}

// placed is derived for an operation with the path of a folder, which it makes absolute.
func placed[In any](c *commands, o api.Operation[In, chela.Folder], path func(*In) *string) *cobra.Command {
	return derived(c, o, func(ctx context.Context, b *Backend, in In) (err error) {
		b.Leave()
		at := path(&in)
		if *at, err = terminal.Absolute(c.Dir, *at); err != nil {
			return err
		}
		return call(c, o, c.folder)(ctx, b, in)
	})
}

var folders = table[chela.Folder]{
	head: "NAME\tAGENT\tPATH\tSESSION\tTRUSTED",
	row:  func(f chela.Folder) []any { return []any{f.Name, f.Agent, f.Path, f.Session, f.TrustedAt} },
	none: "agents work in no folder of yours: chela folders trust DIR lets one",
}

func (c *commands) folder(f chela.Folder) {
	fields := []any{"folder", f.Name, "agent", f.Agent, "path", f.Path, "session", f.Session, "trusted", f.TrustedAt, "forgotten", f.ForgottenAt}
	for _, r := range f.Roots {
		fields = append(fields, "reads", "/roots/"+r.Name+", which is "+r.Path)
	}
	c.Fields(fields...)
}
