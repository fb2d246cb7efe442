package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"chela"
	"chela/internal/store"
)

// What a child process is told: which database to write to, and by how many
// goroutines.
const (
	where   = "CHELA_STORE_TEST"
	howMany = "CHELA_STORE_TEST_WRITERS"
)

// TestMain makes the process a writer if it is a child of a test.
func TestMain(m *testing.M) {
	if place := os.Getenv(where); place != "" {
		writers, err := strconv.Atoi(os.Getenv(howMany))
		if err != nil {
			panic(err)
		}
		writeForEver(place, writers)
	}
	os.Exit(m.Run())
}

// writeForEver adds sessions from some goroutines and prints the key of
// each that was written, until the process is killed or cannot go on.
func writeForEver(place string, writers int) {
	cfg := store.Config{Path: place}
	if strings.HasPrefix(place, "postgres:") {
		cfg = store.Config{URL: place}
	}
	ctx := context.Background()
	s, err := store.Open(ctx, cfg)
	if err != nil {
		fmt.Println("open:", err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for n := 0; ; n++ {
				key := chela.SessionKey(fmt.Sprintf("%d_%d_%d", os.Getpid(), i, n))
				if err := s.Write(ctx, "test", create(key)); err != nil {
					fmt.Println("write:", err)
					os.Exit(1)
				}
				fmt.Println("wrote", key)
			}
		})
	}
	all.Wait()
}

// writer begins a child process that writes to place, with more environment.
func writer(t *testing.T, place store.Config, environ ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), where+"="+place.Path+place.URL)
	cmd.Env = append(cmd.Env, environ...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// collect reads what children say that they wrote, kills them after enough,
// and returns all of it.
func collect(t *testing.T, place store.Config, children int) []chela.SessionKey {
	t.Helper()
	const enough = 300
	told := make([][]chela.SessionKey, children)
	var all sync.WaitGroup
	for i := range children {
		cmd, lines := writer(t, place, howMany+"=8")
		all.Go(func() {
			for lines.Scan() {
				key, ok := strings.CutPrefix(lines.Text(), "wrote ")
				if !ok {
					t.Errorf("the writer said %q", lines.Text())
				}
				told[i] = append(told[i], chela.SessionKey(key))
				if len(told[i]) == enough {
					if err := cmd.Process.Kill(); err != nil {
						t.Error(err)
					}
				}
			}
			if err := cmd.Wait(); err == nil || len(told[i]) < enough {
				t.Errorf("the writer ended by itself after %d rows: %v", len(told[i]), err)
			}
		})
	}
	all.Wait()
	return slices.Concat(told...)
}

// TestKilledWritersLoseNothing kills one process, then three at once, that
// write to a new database. Every row that they were told to be written is
// there.
func TestKilledWritersLoseNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		place := d.place(t)
		told := append(collect(t, place, 1), collect(t, place, 3)...)
		there := map[chela.SessionKey]bool{}
		for _, key := range keys(t, open(t, place)) {
			there[key] = true
		}
		for _, key := range told {
			if !there[key] {
				t.Errorf("%s was acknowledged and is lost", key)
			}
		}
		// One statement sees one state: a server may still commit for a killed writer.
		if without := count(t, d.raw(t, place), "select count(*) from sessions left join lanes on session = key where session is null"); without != 0 {
			t.Errorf("%d sessions have no lane", without)
		}
		if without := count(t, d.raw(t, place), "select count(*) from lanes left join sessions on session = key where key is null"); without != 0 {
			t.Errorf("%d lanes have no session", without)
		}
	})
}
