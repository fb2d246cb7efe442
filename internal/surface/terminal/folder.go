package terminal

import (
	"context"
	"os"
	"path/filepath"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/engine/folder"
)

// A WorkFolder is the folder that a command works in, if the owner trusts it.
type WorkFolder struct {
	dir   string // empty for none
	given bool   // by the flag -C
}

// FindFolder returns the folder that a command works in: the one that a person gave with
// the flag -C, or else the git repository with the current folder. Options that name a
// session leave the folder to that.
func FindFolder(cfg *config.Config, current, given string, o MessageOptions) (WorkFolder, error) {
	named := o.Session != "" || o.Thread != ""
	switch {
	case given != "" && named:
		return WorkFolder{}, chela.E(chela.Invalid, "-C names a folder, and --session or --thread another session").WithHint("leave out one of them")
	case given != "":
		return givenFolder(current, given)
	case named:
		return WorkFolder{}, nil
	default:
		return repositoryFolder(cfg, current), nil
	}
}

// givenFolder returns the folder at a path, which a person gave in a current folder.
func givenFolder(current, path string) (WorkFolder, error) {
	path, err := Absolute(current, path)
	if err != nil {
		return WorkFolder{}, err
	}
	dir, err := filepath.EvalSymlinks(path)
	if err != nil {
		return WorkFolder{}, chela.E(chela.Invalid, "the folder "+OneLine(path, 80)+" cannot be opened").WithHint("name a folder that exists").Because(err)
	}
	return WorkFolder{dir, true}, nil
}

// Absolute returns the absolute path of a folder on a command line that is given in a
// current folder.
func Absolute(current, dir string) (string, error) {
	switch {
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), nil
	case current == "":
		return "", chela.E(chela.Unavailable, "the current folder is not known").WithHint("give an absolute path")
	default:
		return filepath.Join(current, dir), nil
	}
}

// repositoryFolder returns the git repository with the current folder, or none.
func repositoryFolder(cfg *config.Config, current string) WorkFolder {
	dir := repository(current)
	if dir == "" || folder.Refusal(dir, string(cfg.Home), cfg.UserHome) != "" {
		return WorkFolder{}
	}
	return WorkFolder{dir: dir}
}

// repository returns the root of the git repository with a folder, without symbolic
// links, or "".
func repository(dir string) string {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil || dir == "" {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if up := filepath.Dir(at); up != at {
			at = up
			continue
		}
		return ""
	}
}

// Enter returns the session of the folder that a command works in, and "" for none. It
// asks the person at the terminal once whether they trust the folder. Without a person,
// a folder that was named and is not trusted is Denied.
func (w WorkFolder) Enter(ctx context.Context, p *Person, agent string) (chela.SessionKey, error) {
	if w.dir == "" {
		return "", nil
	}
	if agent == "" {
		agent = chela.MainAgent
	}
	known, err := api.All(ctx, p, api.FoldersList, api.FolderFilter{Agent: agent, Path: w.dir, Forgotten: true})
	if err != nil {
		return "", err
	}
	if len(known) > 0 && known[0].ForgottenAt.IsZero() {
		w.tell(p, "in "+OneLine(w.dir, 200)+", session "+string(known[0].Session))
		return known[0].Session, nil
	}
	switch {
	case len(known) > 0 && !w.given: // the person said no before
		return "", nil
	case !p.Present() && !w.given:
		w.tell(p, "not in this git repository: chela folders trust "+OneLine(w.dir, 200)+" lets the agent work in it")
		return "", nil
	case !p.Present():
		return "", chela.E(chela.Denied, "the folder "+OneLine(w.dir, 200)+" is not trusted").
			WithHint("chela folders trust " + OneLine(w.dir, 200) + " lets agent " + agent + " read and change its files")
	}
	trusts, err := p.Confirm(ctx, "Trust the folder "+OneLine(w.dir, 200)+"? Agent "+agent+" may then read and change all files in it.")
	if err != nil {
		return "", err
	}
	if !trusts && w.given {
		return "", chela.E(chela.Denied, "the folder is not trusted").WithHint("leave -C out to work in the agent's own workspace")
	}
	f, err := api.Call(ctx, p, api.FoldersTrust, api.NewFolder{Path: w.dir, Agent: agent, Decline: !trusts})
	if err != nil || !trusts {
		return "", err
	}
	return f.Session, nil
}

// here names the session of the current folder on command lines.
const here = "here"

// SessionNamed returns the session of a key. The word here names that of the main agent
// for the git repository with a folder, if it is trusted, and else its main session.
func (h Connection) SessionNamed(ctx context.Context, name, dir string) (chela.SessionKey, error) {
	if name != here {
		return chela.SessionKey(name), nil
	}
	key, err := h.FolderSession(ctx, dir)
	if chela.KindOf(err) == chela.Invalid {
		return chela.MainKey(chela.MainAgent), nil
	}
	return key, err
}

// FolderSession returns the session of the main agent for the trusted git repository with
// a folder. It is Invalid if there is none.
func (h Connection) FolderSession(ctx context.Context, dir string) (chela.SessionKey, error) {
	if root := repository(dir); root != "" {
		known, err := api.All(ctx, h, api.FoldersList, api.FolderFilter{Agent: chela.MainAgent, Path: root})
		if err != nil {
			return "", err
		}
		if len(known) > 0 {
			return known[0].Session, nil
		}
	}
	return "", chela.E(chela.Invalid, "the current folder is in no trusted git repository").WithHint("chela folders trust DIR lets an agent work in it")
}

// tell writes a note for a person who looks on.
func (WorkFolder) tell(p *Person, note string) {
	if p.ErrTerminal {
		p.Note(note)
	}
}
