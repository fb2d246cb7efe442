package lane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"chela"
)

// A Presence shows other processes of the same machine that a node lives: a
// file of its name that stays locked until the process ends, however it ends.
type Presence struct {
	dir  string
	file *os.File
}

// Appear makes the presence of a node in a folder that all processes of a home
// share.
func Appear(dir string, node chela.NodeID) (*Presence, error) {
	f, err := os.OpenFile(presencePath(dir, node), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make presence: %w", err)
	}
	if err := lockFile(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		f.Close()
		return nil, fmt.Errorf("lock presence: %w", err)
	}
	return &Presence{dir: dir, file: f}, nil
}

// Dead reports whether a node is dead for certain: it has left its file, and
// nobody holds the lock. A node without a file may live on another machine.
func (p *Presence) Dead(node chela.NodeID) bool {
	f, err := os.OpenFile(presencePath(p.dir, node), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close() // lets go of the lock, if it was taken
	return lockFile(f) == nil
}

// Sweep removes the files of nodes that are dead and hold no lane any more.
func (p *Presence) Sweep(holds func(chela.NodeID) bool) error {
	files, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		node := chela.NodeID(f.Name())
		if filepath.Join(p.dir, f.Name()) == p.file.Name() || holds(node) || !p.Dead(node) {
			continue
		}
		if err := os.Remove(filepath.Join(p.dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Leave ends the presence. The node must hold no lane any more.
func (p *Presence) Leave() error {
	return errors.Join(os.Remove(p.file.Name()), p.file.Close())
}

func presencePath(dir string, node chela.NodeID) string { return filepath.Join(dir, string(node)) }
