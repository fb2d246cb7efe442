package main_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// patience is how long one process of a story may take before the story is
// taken for stuck.
const patience = 30 * time.Second

// statement is the failpoint before every statement of every transaction.
const statement = "store.statement"

// failBinary builds chela with failpoints, once for all stories.
var failBinary = sync.OnceValues(func() (string, error) { return build("chela-fail", "failpoint") })

// A kill says at which hit of which failpoint which process of a story dies, or
// what else happens there.
type kill struct {
	process int
	name    string
	nth     int
	action  string // "" stands for kill
}

func (k kill) String() string {
	return fmt.Sprintf("%d:%s@%d=%s", k.process, k.name, k.nth, cmp.Or(k.action, "kill"))
}

// A player runs the processes of one story on one home, killing some of them.
type player struct {
	t       *testing.T
	home    string
	url     string // of the database; empty for SQLite
	env     []string
	kills   []kill
	points  string // further failpoints of every process
	mutants string

	lost    func() bool // reports whether a connection to the database was cut off; may be nil
	next    int         // number of the next process
	answers []string    // what was printed of each message, at last
}

// A process is one run of chela that has ended.
type process struct {
	code   int // exit code; -1 when killed
	stdout string
	stderr string
	faulty bool // met a fault that did not kill it
}

func (p process) killed() bool { return p.code < 0 }

// cutOff reports whether what was planted in the process kept it from its end.
func (p process) cutOff() bool { return p.killed() || p.faulty && p.code != 0 }

// run runs one command to its end.
func (p *player) run(args ...string) process {
	p.t.Helper()
	cmd, out, errs := p.command(args...)
	return p.ended(cmd.Run(), out, errs)
}

// command makes the next process of the story.
func (p *player) command(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	p.t.Helper()
	binary, err := failBinary()
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p.t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error {
		p.t.Errorf("kills %v: %v does not end", p.kills, args)
		return cmd.Process.Signal(syscall.SIGQUIT) // its stack is on standard error
	}
	points := []string{p.points}
	for _, k := range p.kills {
		if k.process == p.next {
			_, rule, _ := strings.Cut(k.String(), ":")
			points = append(points, rule)
		}
	}
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "CHELA_HOME=" + p.home, "CHELA_SESSION_DAILY_RESET=off",
		"CHELA_FAILPOINTS=" + strings.Join(points, ";"), "CHELA_FAILPOINTS_LOG=" + p.log(p.next),
		"CHELA_FAILPOINTS_MUTANTS=" + p.mutants,
	}, p.env...)
	if p.url != "" {
		cmd.Env = append(cmd.Env, "DATABASE_URL="+p.url)
	}
	p.next++
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

func (p *player) ended(err error, stdout, stderr *bytes.Buffer) process {
	p.t.Helper()
	out := process{stdout: stdout.String(), stderr: stderr.String(), faulty: p.met(p.next - 1)}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		out.code = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() != syscall.SIGKILL {
			p.t.Fatalf("process ended with %v: %s", status.Signal(), out.stderr)
		}
	default:
		p.t.Fatalf("run chela: %v", err)
	}
	if out.code > 0 && strings.TrimSpace(out.stdout+out.stderr) == "" || strings.Contains(out.stderr, "panic") {
		p.t.Errorf("kills %v: process %d ended with %d and said %q", p.kills, p.next-1, out.code, out.stderr)
	}
	return out
}

// met reports whether a fault that was planned for a process happened.
func (p *player) met(process int) bool {
	p.t.Helper()
	if p.lost != nil && p.lost() {
		p.lost = nil // the next process meets nothing
		return true
	}
	for _, k := range p.kills {
		if k.process == process && k.action != "" && p.passed(process, k.name) >= k.nth {
			return true
		}
	}
	return false
}

// passed returns how often a process passed a failpoint.
func (p *player) passed(process int, name string) int {
	p.t.Helper()
	n := 0
	for _, h := range p.hits() {
		if h.process == process && h.name == name {
			n++
		}
	}
	return n
}

func (p *player) log(process int) string {
	return fmt.Sprintf("%s.points.%d", p.home, process)
}

// hits returns the failpoints that the processes of the story passed, in order,
// each with the number of its hit.
func (p *player) hits() []kill {
	p.t.Helper()
	var hits []kill
	for i := range p.next {
		raw, err := os.ReadFile(p.log(i))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			p.t.Fatal(err)
		}
		count := map[string]int{}
		for name := range strings.Lines(string(raw)) {
			name = strings.TrimSpace(name)
			count[name]++
			hits = append(hits, kill{process: i, name: name, nth: count[name]})
		}
	}
	return hits
}

// record is what a home holds after a story.
type record struct {
	Turns      []string // states, with why
	Transcript []string
	Approvals  []string
	Answers    []string // as they were printed
	Documents  []string // with their versions
	Background []string // jobs, with what happened to each and was said in its session
	Runs       []string // of routines, and what people are to be told
	Inbox      int
	LeftOver   int // lanes that are held, messages that wait, turns that are live, rewinds that have not ended
}

// read reads the home of a story through the store.
func (p *player) read(key chela.SessionKey) record {
	p.t.Helper()
	cfg := store.Config{URL: p.url}
	if p.url == "" {
		cfg.Path = filepath.Join(p.home, "chela.db")
	}
	s, err := store.Open(context.Background(), cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	for _, problem := range replayTurns(s) {
		p.t.Errorf("kills %v: %s", p.kills, problem)
	}
	var rec record
	err = s.Read(context.Background(), func(r *store.Read) error {
		var err error
		rec, err = readRecord(context.Background(), r, key)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return rec
}

// timeOfNote is the time of a note in the log of a day.
var timeOfNote = regexp.MustCompile(`(?m)^## \d\d:\d\d$`)

func readRecord(ctx context.Context, r *store.Read, key chela.SessionKey) (rec record, err error) {
	thread, err := r.CurrentThread(ctx, key)
	if err != nil {
		return rec, err
	}
	path, err := r.Path(ctx, thread.Head)
	if err != nil {
		return rec, err
	}
	for _, e := range path {
		rec.Transcript = append(rec.Transcript, line(e))
		if e.Kind() == chela.EntryUser {
			rec.Inbox++
		}
	}
	turns, err := r.Turns(ctx, thread.ID)
	if err != nil {
		return rec, err
	}
	for _, t := range turns {
		rec.Turns = append(rec.Turns, string(t.State))
		approvals, err := r.TurnApprovals(ctx, t.ID)
		if err != nil {
			return rec, err
		}
		for _, a := range approvals {
			rec.Approvals = append(rec.Approvals, string(a.State))
		}
	}
	documents, err := r.Documents(ctx, "main", "")
	if err != nil {
		return rec, err
	}
	for _, d := range documents {
		if d, err = r.Document(ctx, "main", d.Path); err != nil {
			return rec, err
		}
		sum := sha256.Sum256([]byte(timeOfNote.ReplaceAllString(d.Text, "")))
		rec.Documents = append(rec.Documents, fmt.Sprintf("%s %d %x", d.Path, d.Version, sum))
	}
	slices.Sort(rec.Documents)
	if rec.Background, err = readJobs(ctx, r); err != nil {
		return rec, err
	}
	if rec.Runs, err = readRuns(ctx, r); err != nil {
		return rec, err
	}
	held, err := r.HeldLanes(ctx)
	if err != nil {
		return rec, err
	}
	counts, err := r.Counts(ctx)
	if err != nil {
		return rec, err
	}
	rewinds, err := r.OpenRewinds(ctx, "")
	rec.LeftOver = len(held) + counts.InboxWaiting + counts.TurnsLive + len(rewinds)
	return rec, err
}

// line is an entry without what differs from run to run.
func line(e chela.Entry) string {
	text := string(e.Kind()) + ": " + e.Text()
	for _, c := range e.Answer().Calls {
		text += fmt.Sprintf(" [%s %s]", c.Tool, c.Args)
	}
	if e.Result().Status != "" {
		text += " (" + string(e.Result().Status) + ")"
	}
	if e.Answer().Interrupted {
		text += " (interrupted)"
	}
	return text
}

// distinct returns the points among hits from a process on that may be killed
// at: every hit of a rare point, and the first, second and last of a frequent
// one. A kill at a statement comes to the same as one before the commit of its
// transaction.
func distinct(hits []kill, from int) []kill {
	last := map[string]int{}
	for _, h := range hits {
		last[fmt.Sprint(h.process, h.name)] = h.nth
	}
	return slices.DeleteFunc(slices.Clone(hits), func(h kill) bool {
		return h.process < from || h.name == statement || h.nth > 2 && h.nth != last[fmt.Sprint(h.process, h.name)]
	})
}
