// Package home keeps the folder of a home: it makes it, holds it for a daemon,
// and says in words what is wrong with it.
package home

import (
	"errors"
	"io/fs"
	"os"

	"chela"
	"chela/internal/config"
)

// Make makes the folders of a home. They are for their owner only.
func Make(cfg *config.Config) error {
	dirs := []string{string(cfg.Home), cfg.Home.Run(), cfg.Home.Blobs()}
	for _, name := range cfg.AgentNames() {
		dirs = append(dirs, cfg.Home.Workspace(name))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Trouble(dir, err)
		}
	}
	return nil
}

// Trouble says in words why a part of the home cannot be written.
func Trouble(path string, err error) error {
	var e *chela.Error
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		e = chela.E(chela.Denied, path+" cannot be written").WithHint("make it writable, or use another --home")
	case isFull(err):
		e = chela.E(chela.Exhausted, "the disk is full").WithHint("free some space and try again; nothing was written half")
	case errors.Is(err, fs.ErrExist), isNotDir(err):
		e = chela.E(chela.Invalid, path+" is not a folder").WithHint("move it away, or use another --home")
	default:
		e = chela.E(chela.Unavailable, path+" cannot be made").WithHint("check the disk and --home")
	}
	return e.Because(err)
}
