package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"chela"
)

// A Presence shows other processes of the same machine that a node is alive: a file
// named after the node that stays locked until the process ends, however it
// ends.
type Presence struct {
	dir  string
	path string
	file *os.File
}

// Appear creates the presence of a node in a folder shared by all processes of
// a home.
func Appear(dir string, node chela.NodeID) (*Presence, error) {
	// The file gets its name after it is locked: it is never visible unlocked
	// while the node is alive.
	path := presencePath(dir, node)
	f, err := os.OpenFile(path+unnamed, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make presence: %w", err)
	}
	if err := tryLock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock presence: %w", err)
	}
	if err := errors.Join(os.Link(path+unnamed, path), os.Remove(path+unnamed)); err != nil {
		f.Close()
		return nil, fmt.Errorf("name presence: %w", err)
	}
	return &Presence{dir: dir, path: path, file: f}, nil
}

// unnamed is the suffix of a presence under construction.
const unnamed = ".new"

// Dead reports whether a node is certainly dead: its file exists, and the lock
// is free. A node without a file may live on another machine.
func (p *Presence) Dead(node chela.NodeID) bool {
	f, err := os.OpenFile(presencePath(p.dir, node), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = release(f) }() // which this check may have locked
	return tryLock(f) == nil
}

// Alive reports whether a node is certainly alive: the lock of its file is
// held.
func (p *Presence) Alive(node chela.NodeID) bool {
	f, err := os.OpenFile(presencePath(p.dir, node), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = release(f) }() // which this check may have locked
	return tryLock(f) != nil
}

// Sweep removes the files of dead nodes that own no lane.
func (p *Presence) Sweep(holds func(chela.NodeID) bool) error {
	files, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		node := chela.NodeID(f.Name())
		if filepath.Ext(f.Name()) == unnamed || filepath.Join(p.dir, f.Name()) == p.path || holds(node) || !p.Dead(node) {
			continue
		}
		if err := os.Remove(filepath.Join(p.dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Leave ends the presence. The node must own no lane.
func (p *Presence) Leave() error {
	return errors.Join(os.Remove(p.path), release(p.file))
}

// Abandon ends the presence of a node that may still own a lane, because the
// outcome of a commit is unknown: its file stays, so that other nodes see that
// it is dead and take over at once.
func (p *Presence) Abandon() error { return release(p.file) }

func presencePath(dir string, node chela.NodeID) string { return filepath.Join(dir, string(node)) }
