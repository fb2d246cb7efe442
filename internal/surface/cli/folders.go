package cli

import (
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/surface/terminal"
)

// foldersCommand returns the commands about the folders that agents work in.
func (c *commands) foldersCommand() *cobra.Command {
	trust := derived(c, api.FoldersTrust, func(ctx context.Context, b *Backend, in api.NewFolder) (err error) {
		b.Leave()
		if in.Path, err = terminal.Absolute(c.Dir, in.Path); err != nil {
			return err
		}
		return call(c, api.FoldersTrust, c.folder)(ctx, b, in)
	})
	trust.Long = "Let an agent work in a folder: its tools and commands may read all files there, and change them. Commands\n" +
		"have no other files of yours. chela and chela ask in this folder, or in a git repository that it is the root\n" +
		"of, then work on its files, in a session of its own."
	trust.Example = "  chela folders trust ~/code/site\n  cd ~/code/site && chela ask \"why does the build fail?\"\n  chela folders forget site"
	return terminal.Group("folders", "Folders of yours that agents work in",
		listing(c, api.FoldersList, folders), trust, verb(c, api.FoldersForget, c.folder))
}

var folders = table[chela.Folder]{
	head: "NAME\tAGENT\tPATH\tSESSION\tTRUSTED",
	row:  func(f chela.Folder) []any { return []any{f.Name, f.Agent, f.Path, f.Session, f.TrustedAt} },
	none: "agents work in no folder of yours: chela folders trust DIR lets one",
}

func (c *commands) folder(f chela.Folder) {
	c.Fields("folder", f.Name, "agent", f.Agent, "path", f.Path, "session", f.Session, "trusted", f.TrustedAt, "forgotten", f.ForgottenAt)
}

// workFolder returns the folder that a command with the flag -C, or without it, works in.
func (c *commands) workFolder(cfg *config.Config, o terminal.MessageOptions) (terminal.WorkFolder, error) {
	switch {
	case c.given != "" && (o.Session != "" || o.Thread != ""):
		return terminal.WorkFolder{}, invalid("-C names a folder, and --session or --thread another session", "leave out one of them")
	case c.given != "":
		path, err := terminal.Absolute(c.Dir, c.given)
		if err != nil {
			return terminal.WorkFolder{}, err
		}
		return terminal.GivenFolder(path)
	case o.Session != "" || o.Thread != "":
		return terminal.WorkFolder{}, nil
	default:
		return terminal.RepositoryFolder(cfg, c.Dir), nil
	}
}
