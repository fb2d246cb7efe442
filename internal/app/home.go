package app

// This part of the package manages the folder of a home: it creates it, holds
// it for a daemon, and words its errors.

import (
	"errors"
	"io/fs"
	"os"

	"chela"
	"chela/internal/config"
)

// MakeHome creates the folders of a home, accessible to their owner only.
func MakeHome(cfg *config.Config) error {
	dirs := []string{string(cfg.Home), cfg.Home.Run(), cfg.Home.Blobs()}
	for _, name := range cfg.AgentNames() {
		dirs = append(dirs, cfg.Home.Workspace(name))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return HomeTrouble(dir, err)
		}
	}
	return nil
}

// HomeTrouble words why a part of the home cannot be written.
func HomeTrouble(path string, err error) error {
	var e *chela.Error
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		e = chela.E(chela.Unavailable, path+" cannot be written").WithHint("make it writable, or use another --home")
	case isFull(err):
		e = chela.E(chela.Unavailable, "the disk is full").WithHint("free some space and try again; no partial data was written")
	case errors.Is(err, fs.ErrExist), isNotDir(err):
		e = chela.E(chela.Invalid, path+" is not a folder").WithHint("move it away, or use another --home")
	default:
		e = chela.E(chela.Unavailable, path+" cannot be created").WithHint("check the disk and --home")
	}
	return e.Because(err)
}
