package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"chela/internal/tool/workspace"
)

// smallFile is the size up to which files are captured first.
const smallFile = 1 << 20

// captureTime bounds the reading of contents before a command.
const captureTime = 3 * time.Second

var (
	errMoving = errors.New("changed by others at the same time")
	errLinked = errors.New("with another hard link, which may lie outside of the workspace")
)

// A candidate is an entry whose content is to be captured.
type candidate struct {
	dir string
	at  int
	entry
}

// capture stores contents that are not known yet in the pack, as far as budget and
// time allow, and links. Now may share folders with the tree of the index.
func (s *Snapshots) capture(ctx context.Context, ws *os.Root, x *index, now tree) error {
	var all []candidate
	var counts map[uint64]uint64
	for dir, f := range now {
		for i, e := range f.Entries {
			switch {
			case e.Held || e.Ignored || e.Kind != link && e.Kind != regular || e.Size > workspace.MaxWrite:
				continue
			case e.Kind == regular && e.Links > 1:
				if counts == nil {
					counts = linksIn(now)
				}
				if counts[e.Inode] < e.Links {
					continue
				}
			}
			all = append(all, candidate{dir, i, e})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b candidate) int {
		if a.Size > smallFile != (b.Size > smallFile) {
			return cmp.Compare(a.Size, b.Size)
		}
		return cmp.Compare(b.Written, a.Written)
	})
	used, _ := x.held()
	p := capturing{root: ws, clock: s.cfg.Now, index: x, now: now, left: s.cfg.Budget - used, owned: map[string]bool{}, until: s.cfg.Now().Add(captureTime)}
	work := make(chan candidate)
	var wait sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for c := range work {
				p.take(ctx, c)
			}
		})
	}
	for _, c := range all {
		work <- c
	}
	close(work)
	wait.Wait()
	return p.err
}

// linksIn counts the names of each file with several.
func linksIn(now tree) map[uint64]uint64 {
	counts := map[uint64]uint64{}
	for _, f := range now {
		for _, e := range f.Entries {
			if e.Kind == regular && e.Links > 1 {
				counts[e.Inode]++
			}
		}
	}
	return counts
}

// capturing is the state of one capture.
type capturing struct {
	root  *os.Root
	clock func() time.Time
	until time.Time

	mu    sync.Mutex
	index *index // guarded by mu, like all below
	now   tree
	owned map[string]bool // folders that are not shared
	left  int64
	err   error
}

func (p *capturing) take(ctx context.Context, c candidate) {
	p.mu.Lock()
	skip := p.err != nil || p.left < c.Size || p.clock().After(p.until) || ctx.Err() != nil
	if !skip {
		p.left -= c.Size
	}
	p.mu.Unlock()
	if skip {
		return
	}
	var raw []byte
	if c.Kind == link {
		target, err := p.root.Readlink(join(c.dir, c.Name))
		if err != nil {
			return // removed since, which the next walk sees
		}
		c.Target, c.Held = target, true
	} else {
		content, err := readEntry(p.root, join(c.dir, c.Name), c.entry)
		if err != nil {
			return // not readable or just being written: not captured
		}
		c.Sum, c.Held, raw = sumOf(content), true, squeeze(content)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if raw != nil {
		if err := p.index.store(&c.entry, raw); err != nil {
			p.err = errors.Join(p.err, err)
			return
		}
	}
	set(p.now, p.owned, c)
}

// set replaces an entry of a tree, in a copy of its folder.
func set(now tree, owned map[string]bool, c candidate) {
	if !owned[c.dir] {
		f := *now[c.dir]
		f.Entries = slices.Clone(f.Entries)
		now[c.dir], owned[c.dir] = &f, true
	}
	now[c.dir].Entries[c.at] = c.entry
}

// readEntry returns the content of a file, if it is the one with that stamp.
func readEntry(root *os.Root, name string, e entry) ([]byte, error) {
	f, err := openBeneath(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	before, err := stat(f, e.Name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, workspace.MaxWrite+1))
	if err != nil {
		return nil, err
	}
	after, err := stat(f, e.Name)
	before.Ignored, after.Ignored = e.Ignored, e.Ignored
	if err == nil && (!before.same(e) || !after.same(e) || int64(len(content)) != e.Size) {
		err = errMoving
	}
	return content, err
}
