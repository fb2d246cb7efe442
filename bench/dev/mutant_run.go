package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"chela/internal/platform/local"
)

// A result is how a mutant ended.
type result string

const (
	caught    result = "caught"
	survived  result = "survived"
	unreached result = "survived, never executed"
)

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }

// A suite is a test binary that contains the mutants of a package.
type suite struct {
	binary, folder string
	temp           string              // holds temporary files, which killed tests leave behind
	reaches        map[string][]*trial // tests that execute a mutant, by its id, the fastest first
	slack          time.Duration       // that a mutant gets beyond that of its tests one by one, without it
}

// A trial is one test of a suite as it ran alone without a mutant.
type trial struct {
	name    string
	took    time.Duration
	reached []string // ids of mutants that it executes
}

// test builds the mutants of a package into test binaries, runs the original
// and then each mutant, and returns the results by id.
func (p *pkg) test(ctx context.Context, workers int, slack time.Duration) (map[int]result, error) {
	scratch, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	overlay, err := p.overlay(scratch)
	if err != nil {
		return nil, err
	}
	var suites []*suite
	for _, folder := range append([]string{p.folder}, testers[filepath.ToSlash(p.folder)]...) {
		s := &suite{binary: filepath.Join(scratch, strconv.Itoa(len(suites))+".test"), folder: folder, slack: slack}
		// The path is as short as possible, because tests put sockets below it, and
		// other accounts may write there, because servers of tests run as one.
		if s.temp, err = os.MkdirTemp("", ""); err != nil {
			return nil, err
		}
		defer os.RemoveAll(s.temp)
		if err := os.Chmod(s.temp, 0o777|os.ModeSticky); err != nil {
			return nil, err
		}
		if err := s.prepare(ctx, overlay, workers); err != nil {
			return nil, err
		}
		suites = append(suites, s)
	}
	results := make([]result, len(p.drawn))
	var group errgroup.Group
	group.SetLimit(workers)
	for i, m := range p.drawn {
		group.Go(func() error {
			results[i] = judge(ctx, suites, strconv.Itoa(m.id))
			return ctx.Err()
		})
	}
	err = group.Wait()
	byID := map[int]result{}
	for i, m := range p.drawn {
		byID[m.id] = results[i]
	}
	return byID, err
}

// firstTime is the total time of the fast tests that a mutant runs before the
// others: most mutants are caught by these.
const firstTime = 2 * time.Second

// judge runs the tests that execute a mutant until one fails.
func judge(ctx context.Context, suites []*suite, id string) result {
	got := unreached
	for _, s := range suites {
		tests := s.reaches[id]
		for len(tests) > 0 {
			n, total := 1, tests[0].took
			for n < len(tests) && (total+tests[n].took < firstTime || got == survived) {
				total += tests[n].took
				n++
			}
			limited, cancel := context.WithTimeout(ctx, total+s.slack)
			_, err := s.run(limited, "CHELA_MUTANT="+id, tests[:n])
			cancel()
			if err != nil {
				return caught
			}
			got, tests = survived, tests[n:]
		}
	}
	return got
}

// prepare compiles a suite and runs each of its tests once without a mutant.
func (s *suite) prepare(ctx context.Context, overlay string, workers int) error {
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, "./"+s.folder).CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile mutants: %w\n%s", err, out)
	}
	if _, err := os.Stat(s.binary); os.IsNotExist(err) {
		return nil // the folder has no tests
	}
	list := exec.CommandContext(ctx, s.binary, "-test.list", "^(Test|Fuzz|Example)")
	list.Dir = s.folder
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the tests of %s: %w", s.folder, err)
	}
	var tests []*trial
	var group errgroup.Group
	group.SetLimit(workers)
	for _, name := range strings.Fields(string(names)) {
		t := &trial{name: name}
		tests = append(tests, t)
		group.Go(func() error { return s.try(ctx, t) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	slices.SortStableFunc(tests, func(a, b *trial) int { return cmp.Compare(a.took, b.took) })
	s.reaches = map[string][]*trial{}
	for _, t := range tests {
		for _, id := range t.reached {
			s.reaches[id] = append(s.reaches[id], t)
		}
	}
	return nil
}

// try runs a test without a mutant.
func (s *suite) try(ctx context.Context, t *trial) error {
	reached := s.binary + "." + t.name
	began := time.Now()
	if out, err := s.run(ctx, "CHELA_MUTANTS_REACHED="+reached, []*trial{t}); err != nil {
		const shown = 4000 // the failure is at the end
		return fmt.Errorf("%s of %s fails without a mutant: %w\n%s", t.name, s.folder, err, out[max(0, len(out)-shown):])
	}
	t.took = time.Since(began)
	text, err := os.ReadFile(reached)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	t.reached = strings.Fields(string(text))
	slices.Sort(t.reached)
	t.reached = slices.Compact(t.reached) // processes that the test starts add to the file, too
	return nil
}

// limited runs a test binary with at most 8 GiB of address space, so that a
// mutant that allocates without end fails before the machine does. More tests run
// at once than there are processors, since most of them wait for clocks and disks.
const limited = `ulimit -v 8388608 2>/dev/null; exec "$0" -test.v -test.failfast -test.timeout=0 -test.parallel=6 -test.run="$1"`

// run runs tests in the folder of their package, and kills them with the
// processes that they started at the first failure or when ctx is done.
func (s *suite) run(ctx context.Context, setting string, tests []*trial) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := output{failed: cancel}
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = t.name
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", limited, s.binary, "^("+strings.Join(names, "|")+")$")
	cmd.Dir, cmd.Env = s.folder, append(os.Environ(), "TMPDIR="+s.temp, setting)
	cmd.Env = append(cmd.Env, "RAPID_SEED=1", "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=0s")
	local.Group(cmd)
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.Process != nil {
		_ = local.KillGroup(cmd) // fails if none is left
	}
	return out.text, err
}

// An output collects the output of verbose tests, and calls failed on the first
// failed test.
type output struct {
	text   []byte
	failed func()
}

// Write implements io.Writer.
func (o *output) Write(text []byte) (int, error) {
	const failure = "--- FAIL: "
	unread := max(0, len(o.text)-len(failure))
	o.text = append(o.text, text...)
	if bytes.Contains(o.text[unread:], []byte(failure)) {
		o.failed()
	}
	return len(text), nil
}

// overlay writes the files with all drawn mutants, and returns the path of the
// list that go test -overlay reads.
func (p *pkg) overlay(scratch string) (string, error) {
	byFile := map[string][]site{}
	for _, m := range p.drawn {
		byFile[m.file] = append(byFile[m.file], m)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	list := struct{ Replace map[string]string }{map[string]string{}}
	put := func(path, text string) error {
		copied := filepath.Join(scratch, strconv.Itoa(len(list.Replace))+".go")
		list.Replace[filepath.Join(here, path)] = copied
		return os.WriteFile(copied, []byte(text), 0o600)
	}
	for path, sites := range byFile {
		if err := put(path, render(p.sources[path], 0, len(p.sources[path]), ordered(sites))); err != nil {
			return "", err
		}
		if err := put(filepath.Join(p.folder, "mutant.go"), supportSource(p.syntax[path].Name.Name)); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}
