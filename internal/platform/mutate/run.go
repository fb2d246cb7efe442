package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
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
	temp           string          // holds temporary files, which killed tests leave behind
	reaches        map[string]bool // mutants that its tests execute, by id
	limit          time.Duration   // for one run
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
		s := &suite{binary: filepath.Join(scratch, strconv.Itoa(len(suites))+".test"), folder: folder}
		// The path is as short as possible, because tests put sockets below it, and
		// other accounts may write there, because servers of tests run as one.
		if s.temp, err = os.MkdirTemp("", ""); err != nil {
			return nil, err
		}
		defer os.RemoveAll(s.temp)
		if err := os.Chmod(s.temp, 0o777|os.ModeSticky); err != nil {
			return nil, err
		}
		if err := s.prepare(ctx, overlay, slack); err != nil {
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

// judge runs the suites that execute a mutant until one fails.
func judge(ctx context.Context, suites []*suite, id string) result {
	got := unreached
	for _, s := range suites {
		if !s.reaches[id] {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, s.limit)
		_, err := s.run(limited, "CHELA_MUTANT="+id)
		cancel()
		if err != nil {
			return caught
		}
		got = survived
	}
	return got
}

// prepare compiles a suite and runs it once without an active mutant.
func (s *suite) prepare(ctx context.Context, overlay string, slack time.Duration) error {
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, "./"+s.folder).CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile mutants: %w\n%s", err, out)
	}
	s.reaches = map[string]bool{}
	if _, err := os.Stat(s.binary); os.IsNotExist(err) {
		return nil // the folder has no tests
	}
	reached := s.binary + ".reached"
	began := time.Now()
	if out, err := s.run(ctx, "CHELA_MUTANTS_REACHED="+reached); err != nil {
		const shown = 4000 // the failure is at the end
		return fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", s.folder, err, out[max(0, len(out)-shown):])
	}
	s.limit = 3*time.Since(began) + slack
	text, err := os.ReadFile(reached)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, id := range strings.Fields(string(text)) {
		s.reaches[id] = true
	}
	return nil
}

// limited runs a test binary with at most 8 GiB of address space, so that a
// mutant that allocates without end fails before the machine does. More tests run
// at once than there are processors, since most of them wait for clocks and disks.
const limited = `ulimit -v 8388608 2>/dev/null; exec "$0" -test.v -test.failfast -test.timeout=0 -test.parallel=6`

// run runs the tests in the folder of their package, and kills them with the
// processes that they started at the first failure or when ctx is done.
func (s *suite) run(ctx context.Context, setting string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := output{failed: cancel}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", limited, s.binary)
	cmd.Dir, cmd.Env = s.folder, append(os.Environ(), "TMPDIR="+s.temp, setting)
	cmd.Env = append(cmd.Env, "RAPID_SEED=1", "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=0s")
	group(cmd)
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.Process != nil {
		_ = killGroup(cmd) // fails if none is left
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
