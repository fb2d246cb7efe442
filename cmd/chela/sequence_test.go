package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/store"
)

// A turnNode is a turn in the tree of the simple model: what was said in it, and
// the file that it wrote.
type turnNode struct {
	parent *turnNode
	said   []string
	file   string
}

// A branchModel is a thread in the simple model.
type branchModel struct {
	id       chela.ThreadID
	head     *turnNode
	arrivals []arrivalModel
	marks    map[string]*turnNode
}

// An arrivalModel is an undo or restore that brought a head somewhere.
type arrivalModel struct{ from, to *turnNode }

// A sequence plays drawn actions on one home, each as a process that may be
// killed anywhere, and predicts in the simplest way what comes of them.
type sequence struct {
	*player
	random   *rand.Rand
	scribe   *scribe
	seen     map[chela.EntryID]chela.Entry
	branches []*branchModel
	now      *branchModel
	split    bool // there are branches, which share the files: those are left alone
	acts     []string
	killed   int
}

// maxKills is how often an action may be killed: after three times chela gives
// a turn up.
const maxKills = 2

// sequenceLength is how many actions a sequence has.
const sequenceLength = 20

// TestCrashAnySequence: whatever turns, undos, redos, restores, branches,
// compactions and kills follow each other, the conversation and the prompt are
// what a simple model predicts, and no entry is ever changed or removed.
func TestCrashAnySequence(t *testing.T) {
	t.Parallel()
	for engine, seeds := range map[string]uint64{"sqlite": 6, "postgres": 2} {
		if *wholeTable {
			seeds *= 20
		}
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", engine, seed), func(t *testing.T) {
				t.Parallel()
				s := newSequence(t, engine, seed)
				if err := s.play(); err != nil {
					t.Fatalf("after %s:\n%v", strings.Join(s.acts, ", "), err)
				}
				s.replayAll()
				t.Logf("%d processes, %d killed; compactions: %v", s.next, s.killed, s.compactions())
			})
		}
	}
}

// TestSequenceSeesMutants plants defects and shows that some sequence sees each.
func TestSequenceSeesMutants(t *testing.T) {
	t.Parallel()
	for _, mutant := range []string{"files-left", "request-again", "kept-too-little"} {
		t.Run(mutant, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(30) {
				s := newSequence(t, "sqlite", seed)
				s.mutants = mutant
				if err := s.play(); err != nil {
					t.Logf("seen by seed %d: %v", seed, err)
					return
				}
			}
			t.Error("the planted defect was not seen")
		})
	}
}

func newSequence(t *testing.T, engine string, seed uint64) *sequence {
	t.Helper()
	s := &sequence{
		player: &player{t: t, home: filepath.Join(t.TempDir(), "home"), url: engines[engine](t)},
		random: rand.New(rand.NewPCG(seed, 7)), scribe: newScribe(t), seen: map[chela.EntryID]chela.Entry{},
	}
	s.env = append(s.scribe.env(), "CHELA_LOG_LEVEL=error", "CHELA_TIMEZONE="+earlyZone(), "CHELA_SESSION_DAILY_RESET=off")
	// Some sequences are compacted without being asked, some even within a turn.
	config := fmt.Sprintf("[models.\"openai/any\"]\nwindow = %d\n", 18_000+3_000*(seed%2))
	if err := errors.Join(os.MkdirAll(s.home, 0o700), os.WriteFile(filepath.Join(s.home, "config.toml"), []byte(config), 0o600)); err != nil {
		t.Fatal(err)
	}
	s.now = &branchModel{marks: map[string]*turnNode{}}
	s.branches = []*branchModel{s.now}
	return s
}

// play performs the actions until one comes to something that the model did not
// predict.
func (s *sequence) play() error {
	if err := errors.Join(s.say(), s.check()); err != nil { // a session begins with its first message
		return err
	}
	actions := []func() error{s.say, s.say, s.say, s.undo, s.undo, s.redo, s.restore, s.mark, s.branch, s.change, s.compact}
	for range sequenceLength {
		if err := actions[s.random.IntN(len(actions))](); err != nil {
			return err
		}
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// replayAll runs every turn of the home again, also those that were undone.
func (s *sequence) replayAll() {
	s.t.Helper()
	s.kills = nil
	turns := map[chela.TurnID]bool{}
	for _, e := range s.seen {
		turns[e.Turn] = true
	}
	for id := range turns {
		if out := s.run("turns", "replay", string(id)); out.code != 0 {
			s.t.Errorf("after %s:\nturn %s, run again: %s%s", strings.Join(s.acts, ", "), id, out.stdout, out.stderr)
		}
	}
}

// act runs a command until nothing cut it off. Each process may be killed at
// some statement.
func (s *sequence) act(args ...string) process {
	s.t.Helper()
	s.acts = append(s.acts, fmt.Sprintf("%.90s", strings.Join(args, " ")))
	for try := range 20 {
		if s.next > 0 && try < maxKills && s.random.IntN(2) == 0 {
			s.kills = append(s.kills, kill{process: s.next, name: statement, nth: 1 + s.random.IntN(120)})
		}
		out := s.run(args...)
		if !out.cutOff() {
			return out
		}
		s.killed++
		s.acts = append(s.acts, "killed at "+s.kills[len(s.kills)-1].String())
	}
	s.t.Fatalf("no end to %v", args)
	return process{}
}

// must is act for what has to succeed.
func (s *sequence) must(args ...string) (string, error) {
	s.t.Helper()
	out := s.act(args...)
	if out.code != 0 {
		return "", fmt.Errorf("%v ended with %d: %s", args, out.code, out.stderr)
	}
	return out.stdout, nil
}

// say carries out a turn whose message says what the model is to do.
func (s *sequence) say() error {
	n := len(s.acts)
	ops := []string{"-", "c", "w", "cw", "wc"}[s.random.IntN(5)]
	name := fmt.Sprintf("m%d", n)
	text := fmt.Sprintf("%s %s %s", name, ops, strings.Repeat("and so on ", s.random.IntN(300)))
	text = strings.TrimSpace(text)
	out, err := s.must("ask", "--message-id", name, "--approve=always", text)
	if err != nil {
		return err
	}
	if want := "done " + name + "\n"; out != want {
		return fmt.Errorf("the answer is %q, want %q", out, want)
	}
	turn := &turnNode{parent: s.now.head, said: []string{"user: " + text}}
	for _, op := range strings.Trim(ops, "-") {
		turn.said = append(turn.said, "assistant: ", "tool_result: "+tools[op]+" done")
		if op == 'w' {
			turn.file = name
		}
	}
	turn.said = append(turn.said, "assistant: done "+name)
	s.now.head = turn
	return s.checkPrompt(name)
}

// tools are what the letters of a message stand for.
var tools = map[rune]string{'c': "calc", 'w': "write_file"}

// key names an action, so that it can be asked for again.
func (s *sequence) key() string { return fmt.Sprintf("k%d", len(s.acts)) }

// move runs a command that moves the head, and reports whether it was refused as
// there is nothing to move to.
func (s *sequence) move(args ...string) (refused bool, err error) {
	args = append([]string{"threads"}, append(args, "--key", s.key())...)
	if s.split {
		args = append(args, "--keep-files")
	}
	out := s.act(args...)
	if out.code != 0 && !strings.Contains(out.stderr, "to undo") && !strings.Contains(out.stderr, "nothing to redo") {
		return false, fmt.Errorf("%v ended with %d: %s", args, out.code, out.stderr)
	}
	return out.code != 0, nil
}

func (s *sequence) undo() error {
	n := 1 + s.random.IntN(2)
	to, there := s.now.head, true
	for range n {
		if there = to != nil; !there {
			break
		}
		to = to.parent
	}
	refused, err := s.move("undo", fmt.Sprint(n))
	if err != nil || refused != !there {
		return fmt.Errorf("undo %d was refused: %v, predicted %v: %w", n, refused, !there, err)
	}
	if there {
		s.now.arrivals = append(s.now.arrivals, arrivalModel{s.now.head, to})
		s.now.head = to
	}
	return nil
}

func (s *sequence) redo() error {
	refused, err := s.move("redo")
	if err != nil {
		return err
	}
	for _, a := range slices.Backward(s.now.arrivals) {
		if a.to == s.now.head {
			s.now.head = a.from
			if refused {
				return fmt.Errorf("redo was refused")
			}
			return nil
		}
	}
	if !refused {
		return fmt.Errorf("something was redone, and nothing was undone")
	}
	return nil
}

func (s *sequence) mark() error {
	name := fmt.Sprintf("mark%d", len(s.acts))
	_, err := s.must("threads", "checkpoint", name, "--key", s.key())
	s.now.marks[name] = s.now.head
	return err
}

// place draws a checkpoint of the thread, or none if there is none.
func (s *sequence) place() string {
	names := slices.Sorted(maps.Keys(s.now.marks))
	if len(names) == 0 {
		return ""
	}
	return names[s.random.IntN(len(names))]
}

func (s *sequence) restore() error {
	name := s.place()
	if name == "" {
		return s.mark()
	}
	to := s.now.marks[name]
	if refused, err := s.move("restore", name); err != nil || refused {
		return fmt.Errorf("restore %s was refused: %v: %w", name, refused, err)
	}
	s.now.arrivals = append(s.now.arrivals, arrivalModel{s.now.head, to})
	s.now.head = to
	return nil
}

func (s *sequence) branch() error {
	args := []string{"threads", "branch", "--json", "--key", s.key()}
	head := s.now.head
	if name := s.place(); name != "" && s.random.IntN(2) == 0 {
		args, head = append(args, name), s.now.marks[name]
	}
	out, err := s.must(args...)
	if err != nil {
		return err
	}
	var made chela.Thread
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		return err
	}
	s.split = true
	s.now = &branchModel{id: made.ID, head: head, marks: map[string]*turnNode{}}
	s.branches = append(s.branches, s.now)
	return nil
}

// compact puts a summary in the place of what was said. It is a turn in which
// nothing is said.
func (s *sequence) compact() error {
	out, err := s.must("ask", "--message-id", s.key(), "/compact")
	if err == nil && !strings.HasPrefix(out, "compacted") && !strings.HasPrefix(out, "nothing to compact") {
		err = fmt.Errorf("/compact came to %q", out)
	}
	s.now.head = &turnNode{parent: s.now.head}
	return err
}

// change goes on with another thread.
func (s *sequence) change() error {
	s.now = s.branches[s.random.IntN(len(s.branches))]
	_, err := s.must("threads", "switch", string(s.now.id))
	return err
}

// rows are what the home holds.
type rows struct {
	entries map[chela.EntryID]chela.Entry
	heads   map[chela.ThreadID]chela.EntryID
	current chela.ThreadID
}

// look reads the home.
func (s *sequence) look() (found rows, err error) {
	cfg := store.Config{URL: s.url}
	if s.url == "" {
		cfg.Path = filepath.Join(s.home, "chela.db")
	}
	db, err := store.Open(context.Background(), cfg)
	if err != nil {
		return found, err
	}
	defer db.Close()
	return store.Find(context.Background(), db, func(r *store.Read) (rows, error) { return readRows(context.Background(), r) })
}

func readRows(ctx context.Context, r *store.Read) (found rows, err error) {
	found.entries, found.heads = map[chela.EntryID]chela.Entry{}, map[chela.ThreadID]chela.EntryID{}
	session, err := r.Session(ctx, mainKey)
	if err != nil {
		return found, err
	}
	found.current = session.Thread
	threads, err := r.Threads(ctx, mainKey)
	if err != nil {
		return found, err
	}
	for _, thread := range threads {
		found.heads[thread.ID] = thread.Head
		entries, err := r.Entries(ctx, thread.ID, 0, 10_000)
		if err != nil {
			return found, err
		}
		for _, e := range entries {
			found.entries[e.ID] = e
		}
	}
	return found, nil
}

// compactions returns how often each strategy made room.
func (s *sequence) compactions() map[chela.Strategy]int {
	found := map[chela.Strategy]int{}
	for _, e := range s.seen {
		if e.Kind() == chela.EntryCompaction {
			found[e.Compaction().Strategy]++
		}
	}
	return found
}

// path is the conversation that ends at an entry, without what the host noted.
func (r rows) path(at chela.EntryID) (path []chela.Entry) {
	for ; at != ""; at = r.entries[at].Parent {
		path = append(path, r.entries[at])
	}
	slices.Reverse(path)
	return path
}

// check compares the home with the model.
func (s *sequence) check() error {
	found, err := s.look()
	if err != nil {
		return err
	}
	for id, before := range s.seen {
		if diff := cmp.Diff(before, found.entries[id]); diff != "" {
			return fmt.Errorf("entry %s was changed (-before +now):\n%s", id, diff)
		}
	}
	s.seen = found.entries
	s.branches[0].id = firstThread(s.branches, found)
	if found.current != s.now.id {
		return fmt.Errorf("the current thread is %s, want %s", found.current, s.now.id)
	}
	for _, b := range s.branches {
		if diff := cmp.Diff(b.head.path(), spoken(found.path(found.heads[b.id])), cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("conversation of thread %s (-want +got):\n%s", b.id, diff)
		}
	}
	return s.checkFiles()
}

// firstThread is the thread that the first message made: the one that is no
// branch.
func firstThread(branches []*branchModel, found rows) chela.ThreadID {
	for id := range found.heads {
		if !slices.ContainsFunc(branches[1:], func(b *branchModel) bool { return b.id == id }) {
			return id
		}
	}
	return ""
}

// path is what was said up to a turn.
func (n *turnNode) path() (lines []string) {
	if n == nil {
		return nil
	}
	return append(n.parent.path(), n.said...)
}

// spoken are the lines of a path that people, model and tools have said.
func spoken(path []chela.Entry) (lines []string) {
	for _, e := range path {
		switch {
		case e.Mark().Note == chela.NoteFlush || e.Kind() == chela.EntryNote || e.Kind() == chela.EntryCompaction || e.User().Command != "":
		case e.Kind() == chela.EntryToolResult:
			lines = append(lines, fmt.Sprintf("tool_result: %s %s", e.Result().Tool, e.Result().Status))
		default:
			lines = append(lines, string(e.Kind())+": "+e.Text())
		}
	}
	return lines
}

// checkFiles compares the workspace with what the turns on the path wrote, as
// long as one thread alone has written.
func (s *sequence) checkFiles() error {
	if s.split {
		return nil
	}
	var want, got []string
	for n := s.now.head; n != nil; n = n.parent {
		if n.file != "" {
			want = append(want, n.file)
		}
	}
	files, err := os.ReadDir(filepath.Join(s.home, "workspace", "main"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "m") {
			got = append(got, f.Name())
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("files (-want +got):\n%s", diff)
	}
	return nil
}
