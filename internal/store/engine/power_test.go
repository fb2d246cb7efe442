//go:build unix

package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"chela/internal/store/engine"
)

// What a child process of TestPowerLoss is told.
const (
	powerSeed   = "CHELA_STORE_POWER_SEED"
	powerDefect = "CHELA_STORE_POWER_DEFECT"
)

// Defects with which the test must fail.
const (
	neverSynced  = "synchronous=off"
	rarelySynced = "synchronous=normal" // the log is synced before a checkpoint only
	noNames      = "the folder is never synced"
)

// defectRounds bounds how often power is lost with a planted defect until it is
// found. One round misses a defect if every random moment lies just after a sync.
const defectRounds = 10

// TestPowerLoss takes the power away at random moments while many goroutines
// write, and looks at what the folder may hold then. Everything acknowledged is
// there, nothing is there by half, and the database is whole. With a planted
// defect it is not.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	if seed := os.Getenv(powerSeed); seed != "" {
		losePower(t, seed, os.Getenv(powerDefect))
		return
	}
	for _, defect := range []string{"", neverSynced, rarelySynced, noNames} {
		t.Run("defect="+defect, func(t *testing.T) {
			t.Parallel()
			if defect == "" {
				seed := strconv.FormatUint(rand.Uint64(), 10)
				if problems := powerChild(t, seed, defect); len(problems) > 0 {
					t.Errorf("seed %s: %d problems\n%s", seed, len(problems), strings.Join(problems, "\n"))
				}
				return
			}
			for range defectRounds {
				if len(powerChild(t, strconv.FormatUint(rand.Uint64(), 10), defect)) > 0 {
					return
				}
			}
			t.Errorf("no problem was found in %d rounds", defectRounds)
		})
	}
}

// powerChild runs the test in a process of its own, where all of SQLite uses
// the shim, and returns the problems that it found.
func powerChild(t *testing.T, seed, defect string) (problems []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPowerLoss$", "-test.v")
	cmd.Env = append(os.Environ(), powerSeed+"="+seed, powerDefect+"="+defect)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("seed %s: %v\n%s", seed, err, out)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "problem: ") {
			problems = append(problems, lines.Text())
		}
		if strings.HasPrefix(lines.Text(), "power lost: ") {
			t.Logf("seed %s: %s", seed, lines.Text())
		}
	}
	return problems
}

// A cut is a loss of power: what was acknowledged before, and what is left.
type cut struct {
	step  int
	acked []string
	left  snapshot
}

// A load writes to a database and remembers what was acknowledged.
type load struct {
	mu    sync.Mutex
	acked []string // guarded by mu
}

// losePower is the child process: it writes, cuts, and prints the problems.
func losePower(t *testing.T, seed, defect string) {
	t.Helper()
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(n, 0))
	dir := t.TempDir()
	s := newShim(t, dir)
	var l load
	var cuts []cut
	next := rng.IntN(20)
	s.disk.look = func(step int) {
		if defect == noNames {
			clear(s.disk.state.names)
		}
		if step < next {
			return
		}
		cuts = append(cuts, cut{step, l.told(), s.disk.state.clone()})
		next += 1 + rng.IntN(20+step/3) // denser while the database is made
	}
	for round := range 2 { // the second opens what the first closed
		l.run(t, engine.Config{Path: filepath.Join(dir, "chela.db")}, round, defect)
	}
	fmt.Printf("power lost: %d times in %d steps, with %d rows acknowledged\n", len(cuts), s.disk.steps, len(l.told()))
	for _, c := range slices.Backward(cuts) {
		for _, loss := range losses {
			err := c.verdict(t, c.left.after(loss, rng))
			if err != nil {
				fmt.Printf("problem: step %d, lost %s, %d acknowledged: %v\n", c.step, loss, len(c.acked), err)
			}
			if err != nil && defect != "" {
				return // seen
			}
		}
	}
}

// told returns what was acknowledged so far.
func (l *load) told() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked[:len(l.acked):len(l.acked)]
}

// run opens a database, writes from many goroutines, and closes it. Every
// transaction adds two sessions.
func (l *load) run(t *testing.T, place engine.Config, round int, defect string) {
	t.Helper()
	d, err := open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{"pragma wal_autocheckpoint=40"} // so that the log begins anew now and then
	if strings.HasPrefix(defect, "synchronous") {
		settings = append(settings, "pragma "+defect)
	}
	for _, setting := range settings {
		if err := engine.Control(d, setting); err != nil {
			t.Fatal(err)
		}
	}
	var writers sync.WaitGroup
	for i := range 16 {
		writers.Go(func() {
			for n := range 15 {
				key := fmt.Sprintf("%d_%d_%d", round, i, n)
				err := d.Write(t.Context(), "test", func(tx engine.Tx) error {
					return errors.Join(create(key+"_a")(tx), create(key+"_b")(tx))
				})
				if err != nil {
					t.Error(err)
					return
				}
				l.mu.Lock()
				l.acked = append(l.acked, key)
				l.mu.Unlock()
			}
		})
	}
	writers.Wait()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// verdict opens what is left after a cut and says what is wrong with it.
func (c cut) verdict(t *testing.T, files map[string][]byte) (err error) {
	t.Helper()
	place := engine.Config{Path: filepath.Join(t.TempDir(), "chela.db")}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(filepath.Dir(place.Path), name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := open(t.Context(), place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := intact(t, place); err != nil {
		return err
	}
	there := map[string]int{}
	for _, key := range keys(t, d) {
		there[key[:strings.LastIndex(key, "_")]]++
	}
	for _, key := range c.acked {
		if there[key] == 0 {
			return fmt.Errorf("%s was acknowledged and is lost", key)
		}
	}
	for key, rows := range there {
		if rows != 2 {
			return fmt.Errorf("%d rows of %s are there", rows, key)
		}
	}
	return d.Write(context.Background(), "test", create("after"))
}

// intact asks SQLite whether a database is whole.
func intact(t *testing.T, place engine.Config) error {
	t.Helper()
	db, err := sql.Open("sqlite", place.Path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer db.Close()
	for check, want := range map[string][]string{
		"pragma integrity_check": {"ok"}, "select 'row without its parent' from pragma_foreign_key_check": nil,
	} {
		rows, err := db.QueryContext(t.Context(), check)
		if err != nil {
			return err
		}
		defer rows.Close()
		var said []string
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			said = append(said, line)
		}
		if err := rows.Err(); err != nil || !slices.Equal(said, want) {
			return fmt.Errorf("%s: %q, %w", check, said, err)
		}
	}
	return nil
}
