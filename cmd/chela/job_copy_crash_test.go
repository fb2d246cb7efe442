package main_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// copyModel plays a job that changes, creates, deletes and moves files.
const copyModel = `
past_end: repeat
turns:
  - {when: has ended, steps: [{text: NO_REPLY}]}
  - when: work
    steps:
      - calls: [{tool: shell, args: {command: "echo new >> a; mkdir n; echo n > n/n; rm gone; mv old d/moved; chmod +x run"}}]
      - {text: Done.}
`

// An applied is a home with a job whose changes are to be applied to a folder. It can be
// put back as it was.
type applied struct {
	t                  *testing.T
	binary, dir, ready string
}

func newApplied(t *testing.T) *applied {
	t.Helper()
	binary, err := failBinary()
	if err != nil {
		t.Fatal(err)
	}
	a := &applied{t: t, binary: binary, dir: t.TempDir(), ready: filepath.Join(t.TempDir(), "ready")}
	for name, text := range map[string]string{"site/a": "a\n", "site/gone": "gone\n", "site/old": "old\n", "site/d/x": "x\n", "site/run": "#!\n", "model.yaml": copyModel} {
		path := filepath.Join(a.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a.must("folders", "trust", filepath.Join(a.dir, "site"))
	a.must("jobs", "create", "--wait", "--session", "agent:main:main:thread:site", "work")
	return a
}

// run runs a command with failpoints, and returns its error output and whether it ended
// well. Killed says that a failpoint killed it.
func (a *applied) run(points string, args ...string) (stderr string, ok, killed bool) {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), a.binary, args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "CHELA_HOME=" + filepath.Join(a.dir, "home"), "HOME=" + filepath.Join(a.dir, "user"),
		"CHELA_MODEL=script/" + filepath.Join(a.dir, "model.yaml"), "CHELA_FAILPOINTS=" + points,
		"CHELA_FAILPOINTS_LOG=" + filepath.Join(a.dir, "points"), "CHELA_HEARTBEAT_ENABLED=false",
	}
	var text strings.Builder
	cmd.Stderr = &text
	err := cmd.Run()
	return text.String(), err == nil, cmd.ProcessState.ExitCode() == -1
}

func (a *applied) must(args ...string) {
	a.t.Helper()
	if stderr, ok, _ := a.run("", args...); !ok {
		a.t.Fatalf("%v: %s", args, stderr)
	}
}

// clone copies a folder of the story.
func (a *applied) clone(from, to string) {
	a.t.Helper()
	if out, err := exec.CommandContext(a.t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		a.t.Fatalf("%v: %s", err, out)
	}
}

// restore puts home and folder back as they were kept.
func (a *applied) restore() {
	a.t.Helper()
	for _, name := range []string{"home", "site", "points"} {
		if err := os.RemoveAll(filepath.Join(a.dir, name)); err != nil {
			a.t.Fatal(err)
		}
	}
	a.clone(filepath.Join(a.ready, "home"), a.dir)
	a.clone(filepath.Join(a.ready, "site"), a.dir)
}

// site returns the files of the folder with their modes.
func (a *applied) site() map[string]string {
	a.t.Helper()
	all := map[string]string{}
	root := filepath.Join(a.dir, "site")
	for path, text := range filesBelow(a.t, root) {
		info, err := os.Stat(filepath.Join(root, path))
		if err != nil {
			a.t.Fatal(err)
		}
		all[path] = info.Mode().String() + " " + text
	}
	return all
}

// passed returns the points of the copy that a command passes, with the number of each hit.
func (a *applied) passed() (points []string) {
	a.t.Helper()
	raw, err := os.ReadFile(filepath.Join(a.dir, "points"))
	if err != nil {
		a.t.Fatal(err)
	}
	hits := map[string]int{}
	for name := range strings.FieldsSeq(string(raw)) {
		hits[name]++
		points = append(points, fmt.Sprintf("%s@%d", name, hits[name]))
	}
	return points
}

// TestCrashOfApply kills the apply and the undo of a job's changes at each of their own
// points and at one of every 7 others, or at all for the whole table. Until the next
// command each file is as before or after; then all are, and the next apply or undo finds
// it so.
func TestCrashOfApply(t *testing.T) {
	t.Parallel()
	a := newApplied(t)
	before := a.site()
	keep := func() {
		if err := os.RemoveAll(a.ready); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(a.ready, 0o700); err != nil {
			t.Fatal(err)
		}
		a.clone(filepath.Join(a.dir, "home"), a.ready)
		a.clone(filepath.Join(a.dir, "site"), a.ready)
	}
	keep()
	a.restore()
	a.must("jobs", "apply", "last")
	after := a.site()
	if len(after) != len(before) || cmp.Equal(before, after) {
		t.Fatalf("applied: %v", after)
	}
	a.killEach("apply", a.passed(), before, after)
	a.restore()
	a.must("jobs", "apply", "last")
	keep()
	a.restore()
	a.must("jobs", "undo", "last")
	if diff := cmp.Diff(before, a.site()); diff != "" {
		t.Fatalf("undone (-want +got)\n%s", diff)
	}
	a.killEach("undo", a.passed(), after, before)
}

// killEach kills a command at each point and repeats it.
func (a *applied) killEach(verb string, points []string, from, to map[string]string) {
	a.t.Helper()
	struck := 0
	for i, point := range points {
		if !*wholeTable && i%7 > 0 && !strings.HasPrefix(point, "job.") {
			continue
		}
		a.restore()
		if _, _, killed := a.run(point+"=kill", "jobs", verb, "last"); !killed {
			continue // a point that others reach too
		}
		struck++
		for name := range a.site() {
			if is := a.site()[name]; is != from[name] && is != to[name] {
				a.t.Errorf("%s killed at %s leaves %s as %q", verb, point, name, is)
			}
		}
		stderr, ok, _ := a.run("", "jobs", verb, "last")
		if !ok && !strings.Contains(stderr, "were applied at") && !strings.Contains(stderr, "are not applied") {
			a.t.Errorf("%s after a kill at %s: %s", verb, point, stderr)
		}
		if diff := cmp.Diff(to, a.site()); diff != "" {
			a.t.Errorf("%s killed at %s, then repeated (-want +got)\n%s", verb, point, diff)
		}
	}
	names := map[string]bool{}
	for _, p := range points {
		name, _, _ := strings.Cut(p, "@")
		names[name] = true
	}
	for _, name := range []string{"job.apply.change", "job.apply.put", "job.applied"} {
		if !names[name] {
			a.t.Errorf("%s passes no point %s: %v", verb, name, slices.Sorted(maps.Keys(names)))
		}
	}
	if struck < 10 {
		a.t.Errorf("%s was killed %d times", verb, struck)
	}
	a.t.Logf("%s was killed %d times", verb, struck)
}
