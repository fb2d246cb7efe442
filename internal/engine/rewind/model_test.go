package rewind_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// A node is a place in the tree of the model: what was said up to there, and
// what the workspace held then.
type node struct {
	parent *node
	text   string
	entry  chela.EntryID
	files  map[string]string
}

func (n *node) said() (texts []string) {
	for ; n.parent != nil; n = n.parent {
		texts = append(texts, n.text)
	}
	slices.Reverse(texts)
	return texts
}

// A branch is a thread of the model.
type branch struct {
	id          chela.ThreadID
	head        *node
	arrivals    []arrival
	checkpoints map[string]*node
	places      []*node // ends of turns that it can reach
}

// An arrival is an undo or restore that brought the head somewhere.
type arrival struct {
	from, to  *node
	keepFiles bool
}

// A model tells what a session comes to, in the simplest way there is: a tree,
// heads in it, and a picture of the files for each place.
type model struct {
	*world
	random   *rand.Rand
	branches []*branch
	now      *branch
	branched bool // heads of several threads share the files: they are kept as they are
	turns    int
	steps    []string
	entries  map[chela.EntryID]chela.Entry // ever seen
}

// TestAnySequence: whatever turns, undos, redos, restores, branches and restarts
// follow each other, the path is what the model predicts, so are the files, and
// no entry is ever changed or removed.
func TestAnySequence(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m := &model{world: newWorld(t), random: rand.New(rand.NewPCG(seed, 1)), entries: map[chela.EntryID]chela.Entry{}}
			root := &node{files: map[string]string{}}
			m.now = &branch{id: m.thread, head: root, checkpoints: map[string]*node{}, places: []*node{root}}
			m.branches = []*branch{m.now}
			for range 40 {
				m.step(t, seed >= 6)
				m.check(t)
				if t.Failed() {
					t.Fatalf("after %s", strings.Join(m.steps, ", "))
				}
			}
		})
	}
}

// step does something by chance; with branches, files are kept as they are.
func (m *model) step(t *testing.T, branches bool) {
	t.Helper()
	actions := []func(*testing.T){m.turn, m.turn, m.turn, m.undoSome, m.redoOne, m.restorePlace, m.mark, m.restart}
	if branches {
		actions = append(actions, m.fork, m.switchTo)
	}
	actions[m.random.IntN(len(actions))](t)
}

func (m *model) note(format string, args ...any) {
	m.steps = append(m.steps, fmt.Sprintf(format, args...))
}

func (m *model) turn(t *testing.T) {
	t.Helper()
	m.turns++
	text := fmt.Sprint("t", m.turns)
	m.note("turn %s", text)
	before := m.files(t)
	var acts []act
	for range m.random.IntN(3) {
		path := []string{"a", "b", "d/c", "d/e/f"}[m.random.IntN(4)]
		if _, there := before[path]; there && m.random.IntN(3) == 0 {
			acts = append(acts, writes(change{path: path, gone: true}))
			delete(before, path)
			continue
		}
		acts = append(acts, writes(file(path, fmt.Sprint(text, m.random.IntN(3)))))
		before[path] = ""
	}
	m.say(t, text, acts...)
	made := &node{parent: m.now.head, text: text, entry: m.state(t).Head, files: contents(m.files(t))}
	m.now.head = made
	m.now.places = append(m.now.places, made)
}

// contents leaves the folders out: one that was made for a file that a later
// turn removed is there or not.
func contents(files map[string]string) map[string]string {
	maps.DeleteFunc(files, func(path, _ string) bool { return strings.HasSuffix(path, "/") })
	return files
}

// arrive is what a move comes to in the model.
func (m *model) arrive(to *node, redo bool) {
	if !redo {
		m.now.arrivals = append(m.now.arrivals, arrival{m.now.head, to, m.branched})
	}
	m.now.head = to
}

func (m *model) undoSome(t *testing.T) {
	t.Helper()
	n := 1 + m.random.IntN(3)
	m.note("undo %d", n)
	to := m.now.head
	for range n {
		if to = to.parent; to == nil {
			break
		}
	}
	v, err := m.Undo(t.Context(), m.thread, n, api.RewindOptions{KeepFiles: m.branched})
	if to == nil {
		want(t, "more than there are", chela.Conflict, chela.KindOf(err))
		return
	}
	moved(t, v, err)
	m.arrive(to, false)
}

func (m *model) redoOne(t *testing.T) {
	t.Helper()
	m.note("redo")
	v, err := m.Redo(t.Context(), m.thread, api.RewindOptions{KeepFiles: m.branched})
	for _, a := range slices.Backward(m.now.arrivals) {
		if a.to == m.now.head {
			moved(t, v, err)
			m.arrive(a.from, true)
			return
		}
	}
	want(t, "nothing to redo", chela.Conflict, chela.KindOf(err))
}

func (m *model) restorePlace(t *testing.T) {
	t.Helper()
	to := m.now.places[m.random.IntN(len(m.now.places))]
	name := string(to.entry)
	for mark, at := range m.now.checkpoints {
		if at == to {
			name = mark
		}
	}
	if name == "" {
		return // the beginning has no name of its own
	}
	m.note("restore %s", name)
	v, err := m.Restore(t.Context(), m.thread, name, api.RewindOptions{KeepFiles: m.branched})
	moved(t, v, err)
	m.arrive(to, false)
}

func (m *model) mark(t *testing.T) {
	t.Helper()
	name := fmt.Sprint("mark", len(m.steps))
	m.note("checkpoint %s", name)
	if _, err := m.Checkpoint(t.Context(), m.thread, api.NewCheckpoint{Name: name}); err != nil {
		t.Fatal(err)
	}
	m.now.checkpoints[name] = m.now.head
}

func (m *model) restart(t *testing.T) {
	t.Helper()
	m.note("restart")
	m.start(t)
}

func (m *model) fork(t *testing.T) {
	t.Helper()
	at := m.now.places[m.random.IntN(len(m.now.places))]
	if at.entry == "" {
		at = m.now.head
	}
	m.note("branch at %q", at.text)
	var from string
	if at != m.now.head {
		from = string(at.entry)
	}
	made, err := m.Branch(t.Context(), m.thread, api.NewBranch{From: from})
	if err != nil {
		t.Fatal(err)
	}
	m.branched = true
	m.now = &branch{id: made.ID, head: at, checkpoints: map[string]*node{}, places: slices.Clone(m.now.places)}
	m.branches = append(m.branches, m.now)
	m.thread = made.ID
}

func (m *model) switchTo(*testing.T) {
	m.now = m.branches[m.random.IntN(len(m.branches))]
	m.thread = m.now.id
	m.note("switch to %d", slices.Index(m.branches, m.now))
}

// check compares what is stored with the model.
func (m *model) check(t *testing.T) {
	t.Helper()
	want(t, "conversation", m.now.head.said(), m.said(t))
	if !m.branched {
		want(t, "files", m.now.head.files, contents(m.files(t)))
	}
	found := 0
	for _, b := range m.branches {
		entries, err := store.Find(t.Context(), m.store, func(r *store.Read) ([]chela.Entry, error) { return r.Entries(t.Context(), b.id, 0, 10_000) })
		if err != nil {
			t.Fatal(err)
		}
		found += len(entries)
		for _, e := range entries {
			if before, ok := m.entries[e.ID]; ok && !cmp.Equal(before, e) {
				t.Errorf("entry %s changed: %s", e.ID, cmp.Diff(before, e))
			}
			m.entries[e.ID] = e
		}
	}
	if found != len(m.entries) {
		t.Errorf("%d entries are there, %d were", found, len(m.entries))
	}
}
