package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"sync"

	"chela"
)

// A Quota limits the disk space and the number of files of each workspace, for
// the tools that write files one by one. What commands write counts too. A
// workspace that already holds more may shrink but not grow. It is safe for
// concurrent use; nil limits nothing.
type Quota struct {
	Size  int64 // bytes on disk
	Files int   // files and directories

	mu   sync.Mutex
	used map[string]*measurement // by host folder; guarded by mu
}

// A Usage is what a folder takes up.
type Usage struct {
	Bytes int64 // on disk
	Files int   // files and directories
}

// A measurement is the last known usage of a workspace, with the writes of tools
// since.
type measurement struct {
	mu   sync.Mutex
	now  Usage // guarded by mu, like all below
	uses int   // writes that it may still be used for
}

// cheap is the number of files that may be measured for each write. The
// measurement of a larger workspace is used for several writes, so that what
// commands do between them may go unnoticed for a few of them.
const cheap = 10_000

// maxMeasured is how many workspaces are remembered.
const maxMeasured = 1000

// Write makes changes as [Workspace.Write] does, unless they exceed the quota.
func (q *Quota) Write(ctx context.Context, w *Workspace, key string, changes ...Change) error {
	if err := q.Check(ctx, w, changes...); err != nil {
		return err
	}
	return w.Write(ctx, key, changes...)
}

// Check returns Exhausted if changes would exceed the quota, and counts them
// otherwise.
func (q *Quota) Check(ctx context.Context, w *Workspace, changes ...Change) error {
	if q == nil {
		return nil
	}
	more := w.growth(changes)
	if more.Bytes <= 0 && more.Files <= 0 {
		return nil
	}
	m := q.of(w.root.Name())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uses--
	fresh := m.uses < 0
	if fresh {
		if err := m.measure(ctx, w); err != nil {
			return err
		}
	}
	err := q.exceeded(m.now, more)
	if err != nil && !fresh { // something may have been deleted
		if err := m.measure(ctx, w); err != nil {
			return err
		}
		err = q.exceeded(m.now, more)
	}
	if err != nil {
		return err
	}
	m.now.Bytes += more.Bytes
	m.now.Files += more.Files
	return nil
}

// of returns the measurement of a folder.
func (q *Quota) of(dir string) *measurement {
	q.mu.Lock()
	defer q.mu.Unlock()
	m, ok := q.used[dir]
	if !ok {
		if q.used == nil || len(q.used) >= maxMeasured {
			q.used = map[string]*measurement{}
		}
		m = &measurement{}
		q.used[dir] = m
	}
	return m
}

// measure measures the workspace.
func (m *measurement) measure(ctx context.Context, w *Workspace) (err error) {
	m.uses = 0
	if m.now, err = Measure(ctx, w.root.Name()); err == nil {
		m.uses = m.now.Files / cheap
	}
	return err
}

// exceeded returns Exhausted if more does not fit beside what is used.
func (q *Quota) exceeded(used, more Usage) error {
	const mib = 1 << 20
	switch {
	case more.Bytes > 0 && used.Bytes+more.Bytes > q.Size:
		return chela.E(chela.Exhausted, fmt.Sprintf("nothing was written: the workspace holds %d MiB, and with this it would exceed the %d MiB of sandbox.workspace_mib; "+
			"delete files that are not needed, or ask the owner to raise the limit", used.Bytes/mib, q.Size/mib))
	case more.Files > 0 && used.Files+more.Files > q.Files:
		return chela.E(chela.Exhausted, fmt.Sprintf("nothing was written: the workspace holds %d files and directories, and with this it would exceed the %d of sandbox.workspace_files; "+
			"delete files that are not needed, or ask the owner to raise the limit", used.Files, q.Files))
	}
	return nil
}

// growth returns by how much changes enlarge the workspace, at most. A file takes
// up whole blocks.
func (w *Workspace) growth(changes []Change) (more Usage) {
	const block = 4096
	made := map[string]bool{}
	for _, c := range changes {
		old, err := w.root.Lstat(c.Name)
		switch {
		case err == nil && !hasOtherLink(old):
			more.Bytes -= onDisk(old)
		case err != nil && !c.Delete:
			more.Files++
		}
		if c.Delete {
			if err == nil {
				more.Files--
			}
			continue
		}
		more.Bytes += (int64(len(c.Content)) + block - 1) / block * block
		for dir := path.Dir(c.Name); dir != "." && !made[dir]; dir = path.Dir(dir) {
			if _, err := w.root.Lstat(dir); err == nil {
				break
			}
			made[dir] = true
			more.Files++
			more.Bytes += block
		}
	}
	return more
}

// Measure returns what a folder of the host takes up. Files with several names
// count once; unreadable and removed ones do not count.
func Measure(ctx context.Context, dir string) (used Usage, err error) {
	seen := make(map[fileID]bool)
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if id, ok := idOf(info); ok && info.Mode().IsRegular() {
			if seen[id] {
				return nil
			}
			seen[id] = true
		}
		used.Bytes += onDisk(info)
		used.Files++
		return nil
	})
	return used, err
}
