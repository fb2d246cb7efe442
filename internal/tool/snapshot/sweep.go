package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"chela/internal/platform/datadir"
)

const (
	sweepTime  = time.Hour
	keepTime   = 7 * 24 * time.Hour // for workspaces in which no command runs
	maxBudgets = 8                  // bytes of all workspaces, in budgets of one

	ownerFile = "workspace" // holds the path of the workspace
)

// A stored is the folder of a workspace's snapshots on disk.
type stored struct {
	dir  string
	used time.Time
	size int64
	gone bool // the workspace is gone
}

// sweep removes the snapshots of workspaces that are gone or were not used for
// keepTime, and the oldest beyond maxBudgets, except for one folder.
func (s *Snapshots) sweep(except string) error {
	all, err := s.stored()
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b stored) int { return b.used.Compare(a.used) })
	left := maxBudgets * s.cfg.Budget
	var errs []error
	for _, f := range all {
		left -= f.size
		if f.dir != except && (f.gone || left < 0 || s.cfg.Now().Sub(f.used) > keepTime) {
			left += f.size
			delete(s.shelves, f.dir)
			errs = append(errs, f.remove())
		}
	}
	return errors.Join(errs...)
}

// stored returns the folders on disk.
func (s *Snapshots) stored() (all []stored, err error) {
	dirs, err := os.ReadDir(s.cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, d := range dirs {
		if !d.IsDir() {
			continue // a lock
		}
		f := stored{dir: filepath.Join(s.cfg.Dir, d.Name())}
		files, err := os.ReadDir(f.dir)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			info, err := file.Info()
			if err != nil {
				continue // removed since
			}
			f.size += info.Size()
			if info.ModTime().After(f.used) {
				f.used = info.ModTime()
			}
		}
		owner, err := os.ReadFile(filepath.Join(f.dir, ownerFile))
		if err == nil {
			_, err = os.Stat(string(owner))
		}
		f.gone = errors.Is(err, fs.ErrNotExist)
		all = append(all, f)
	}
	return all, err
}

// remove removes the folder, unless a workspace with its lock is in use. The index is
// removed first: without it the other files are worth nothing.
func (f stored) remove() (err error) {
	unlock, ok, err := datadir.TryLock(lockOf(f.dir))
	if err != nil || !ok {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	for g := newest(f.dir); g != 0; g = newest(f.dir) {
		if err := os.Remove(indexFile(f.dir, g)); err != nil {
			return err
		}
	}
	return os.RemoveAll(f.dir)
}
