package main

// This part of the program measures how many small faults in the deciding code the tests
// of its own packages notice (mutation testing). It draws a random sample of
// places in the files below, changes one at a time, and runs the tests of the
// package: a mutant is caught if they fail or do not end in time.
//
//	go run ./bench/dev mutate -n 400 -seed 7
//
// All mutants of a package are compiled into one test binary through
// go build -overlay, and an environment variable selects the active one, so the
// working tree is never touched. Each test first runs alone without a mutant, which
// shows the mutants that it executes. A mutant then costs one run of the tests
// that execute it at most, fast ones first, up to the first failure. Tests with
// random input draw the same input in each run.
//
// A survivor that no test can notice, because it behaves like the original, is
// listed with its reason in equivalent.txt. The command fails if less than the
// wanted share of the other mutants is caught, or if a line of that file
// matches no possible mutant.

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// targets lists the files that decide, by patterns of package filepath.
var targets = []string{
	"internal/engine/turn/machine/*.go",     // the next action of a turn
	"internal/engine/policy/*.go",           // whether a call may run
	"internal/engine/approval/*.go",         // questions and their answers
	"internal/engine/cost/*.go",             // budgets
	"internal/background/routine/rule/*.go", // when routines fire
	"internal/tool/shell/*.go",              // the risk of shell commands
	"internal/engine/token/*.go",            // authentication
	"internal/surface/gateway/edge/*.go",    // authorization of requests
	"internal/background/job/*.go",          // the life of jobs
	"internal/engine/rewind/*.go",           // undo and redo
	"internal/engine/prompt/plan.go",        // the content of a prompt
	"internal/engine/lane/*.go",             // queue modes, lanes and leases, the ends of turns, fairness between lanes
}

// testers lists further packages whose tests belong to a package, as they drive
// it through the functions around it.
var testers = map[string][]string{
	"internal/surface/gateway/edge": {"internal/surface/gateway"},
}

// equivalents is the list of mutants that behave like the original.
const equivalents = "bench/dev/equivalent.txt"

// mutate returns 1 if too few mutants were caught.
func mutate(ctx context.Context, args []string) int {
	var p plan
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.IntVar(&p.count, "n", 400, "number of mutants, drawn at random from all places")
	flags.Uint64Var(&p.seed, "seed", 1, "seed of the draw; the same seed draws the same places in the same code")
	flags.StringVar(&p.only, "only", "", "files to mutate, as a pattern, instead of all deciding files")
	flags.IntVar(&p.workers, "j", 3*runtime.NumCPU(), "number of test processes at once; most tests wait for clocks and disks")
	flags.Float64Var(&p.share, "share", 0.95, "share of mutants that must be caught, from 0 to 1")
	flags.DurationVar(&p.slack, "slack", time.Minute, "time that a mutant gets beyond that of its tests, one by one, without it")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	failed, err := p.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	if failed || err != nil {
		return 1
	}
	return 0
}

// A plan holds the command-line options.
type plan struct {
	count   int
	seed    uint64
	only    string
	workers int
	share   float64
	slack   time.Duration
}

// run draws the mutants, tests them and prints the result. Failed reports that
// too few were caught.
func (p plan) run(ctx context.Context) (failed bool, err error) {
	files, err := p.files()
	if err != nil {
		return false, err
	}
	packages, err := load(ctx, files)
	if err != nil {
		return false, err
	}
	excused, err := readEquivalents(equivalents)
	if err != nil {
		return false, err
	}
	fmt.Printf("%d places in %d files of %d packages, seed %d\n", countSites(packages), len(files), len(packages), p.seed)
	for line := range excused {
		if p.only == "" && !possible(packages, line) {
			return false, fmt.Errorf("%s: no such mutant any more: %s", equivalents, line)
		}
	}
	p.draw(packages)
	var s score
	for _, pkg := range packages {
		if len(pkg.drawn) == 0 {
			continue
		}
		results, err := pkg.test(ctx, p.workers, p.slack)
		if err != nil {
			return false, fmt.Errorf("%s: %w", pkg.path, err)
		}
		s.add(pkg, results, excused)
	}
	return s.report(p.share), nil
}

// files expands the patterns into files, without tests.
func (p plan) files() (files []string, err error) {
	patterns := targets
	if p.only != "" {
		patterns = []string{p.only}
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, isTest)
		if len(found) == 0 {
			return nil, fmt.Errorf("no file matches %s; run this command in the root of the module", pattern)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// draw selects places at random until enough of them compile or none is left.
func (p plan) draw(packages []*pkg) {
	type place struct {
		in   *pkg
		site site
	}
	var places []place
	for _, in := range packages {
		for _, s := range in.sites {
			places = append(places, place{in, s})
		}
	}
	random := rand.New(rand.NewPCG(p.seed, 0))
	random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	drawn := 0
	for _, at := range places {
		if drawn == p.count {
			break
		}
		if at.in.compiles(at.site) {
			drawn++
			at.site.id = drawn
			at.in.drawn = append(at.in.drawn, at.site)
		}
	}
}
