package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"chela"
	"chela/internal/platform/datadir"
	"chela/internal/tool/workspace"
)

// DefaultBudget is the default of Config.Budget.
const DefaultBudget = 256 << 20

// Config holds the dependencies of snapshots.
type Config struct {
	Dir    string             // folder of the indexes
	Keep   workspace.KeepFunc // stores the contents of pre-images
	Bytes  func(ctx context.Context, sha256 string) ([]byte, error)
	Budget int64 // bytes of contents held for each workspace
	Now    func() time.Time
	Log    *slog.Logger
}

// Snapshots captures workspaces before and after commands. It is safe for
// concurrent use.
type Snapshots struct {
	cfg Config

	mu      sync.Mutex
	shelves map[string]*shelf // by folder; guarded by mu
	swept   time.Time         // guarded by mu
}

// maxShelves is the number of workspaces whose index stays in memory.
const maxShelves = 4

// New returns snapshots.
func New(cfg Config) *Snapshots {
	cfg.Budget = cmp.Or(cfg.Budget, DefaultBudget)
	return &Snapshots{cfg: cfg, shelves: map[string]*shelf{}}
}

// A shelf holds the snapshots of one workspace.
type shelf struct {
	dir    string
	of     string // path of the workspace
	mu     sync.Mutex
	index  *index   // guarded by mu, like all below; nil until it is used
	recent []before // of commands that may still run
}

// before is the state of a workspace before a command.
type before struct {
	ref     string
	call    chela.CallID
	tree    tree
	ignored tree
	partly  bool
	all     bool
}

// maxBefore is the number of commands of one workspace whose snapshots stay in
// memory.
const maxBefore = 8

// of returns the shelf of a workspace.
func (s *Snapshots) of(ws *workspace.Workspace) (*shelf, error) {
	at, err := filepath.Abs(ws.Root().Name())
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.cfg.Dir, sumOf([]byte(at))[:32])
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.shelves[dir]
	if !ok {
		for old := range s.shelves {
			if len(s.shelves) < maxShelves {
				break
			}
			delete(s.shelves, old) // whoever uses it goes on; its files are closed with it
		}
		h = &shelf{dir: dir, of: at}
		s.shelves[dir] = h
	}
	if now := s.cfg.Now(); now.Sub(s.swept) > sweepTime {
		s.swept = now
		if err := s.sweep(h.dir); err != nil {
			s.cfg.Log.Warn("old snapshots not removed", "error", err)
		}
	}
	return h, nil
}

// use calls do with the current index, while no other process uses it.
func (h *shelf) use(now time.Time, do func() error) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(h.dir), 0o700); err != nil {
		return err
	}
	unlock, err := datadir.Lock(lockOf(h.dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return err
	}
	generation := newest(h.dir)
	if h.index != nil && generation == h.index.generation {
		err = h.index.refresh(-1)
	} else {
		if h.index != nil {
			h.index.close()
		}
		if generation == 0 {
			generation = now.UnixMicro() // no number is used again, so a reference names one state
			err = os.WriteFile(filepath.Join(h.dir, ownerFile), []byte(h.of), 0o600)
		}
		if err == nil {
			h.index, err = openIndex(h.dir, generation)
		}
	}
	if err != nil {
		return err
	}
	return do()
}

// lockOf returns the lock of a shelf. A few locks, which stay, are shared by all
// shelves, so that a shelf can be removed while it is locked.
func lockOf(dir string) string {
	return filepath.Join(filepath.Dir(dir), filepath.Base(dir)[:1]+".lock")
}

// Before captures a workspace before a command, and returns the pre-image that
// refers to the snapshot, which is durable. All says that ignored folders are
// compared too. A failure is in the pre-image: the command is then not undone.
func (s *Snapshots) Before(ctx context.Context, ws *workspace.Workspace, call chela.ToolCall, all bool) chela.Preimage {
	p := chela.Preimage{Kind: chela.PreimageTree, Path: "."}
	b := before{call: call.ID, all: all}
	err := s.before(ctx, ws, &b)
	if err != nil {
		s.cfg.Log.Warn("no snapshot before a command", "call", call.ID, "error", err)
		p.Why = "there is no snapshot of the workspace: " + reason(err)
		return p
	}
	p.Before = b.ref
	return p
}

func (s *Snapshots) before(ctx context.Context, ws *workspace.Workspace, b *before) error {
	h, err := s.of(ws)
	if err != nil {
		return err
	}
	return h.use(s.cfg.Now(), func() (err error) {
		if h.index, err = h.index.renew(); err != nil {
			return err
		}
		x := h.index
		if b.tree, b.ignored, b.partly, err = walkTree(ctx, view{ws.Root(), s.cfg.Now}, x.tree, b.all); err != nil {
			return err
		}
		if err := s.capture(ctx, ws.Root(), x, b.tree); err != nil {
			return err
		}
		if err := x.commit(b.tree); err != nil {
			return err
		}
		b.ref = fmt.Sprintf("%d.%d", x.generation, x.batches)
		if h.recent = append(h.recent, *b); len(h.recent) > maxBefore {
			h.recent = h.recent[1:]
		}
		return nil
	})
}

// reason returns why there is no snapshot, without paths of the host.
func reason(err error) string {
	for _, known := range []error{errTooMany, errUnreadable} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "it cannot be written"
}

// find returns the snapshot that a pre-image refers to, from memory or by a replay
// of the index.
func (h *shelf) find(call chela.ToolCall, ref string) (before, error) {
	for _, b := range h.recent {
		if b.call == call.ID && b.ref == ref {
			return b, nil
		}
	}
	var generation int64
	var batches int
	if _, err := fmt.Sscanf(ref, "%d.%d", &generation, &batches); err != nil {
		return before{}, err
	}
	if _, err := os.Stat(indexFile(h.dir, generation)); err != nil {
		return before{}, err
	}
	x := &index{dir: h.dir, generation: generation, tree: tree{}}
	var err error
	defer func() { x.close() }()
	if x.log, err = os.Open(indexFile(h.dir, generation)); err == nil {
		x.pack, err = os.Open(packFile(h.dir, generation))
	}
	if err == nil {
		err = x.refresh(batches)
	}
	if err == nil && x.batches != batches {
		err = errors.New("the index lacks the snapshot")
	}
	return before{ref: ref, call: call.ID, tree: x.tree}, err
}
