package pgtest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chela/internal/platform/pgtest"
)

func TestURLGivesDatabasesOfTheirOwn(t *testing.T) {
	t.Parallel()
	first, second := connect(t, pgtest.URL(t)), connect(t, pgtest.URL(t))
	execute(t, first, "create table words (word text)")
	execute(t, second, "create table words (word text)")
}

func TestTemplateIsFilledOnceAndCopied(t *testing.T) {
	t.Parallel()
	times := 0
	template := pgtest.NewTemplate(func(url string) error {
		times++
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return err
		}
		_, err = conn.Exec(t.Context(), "create table words (word text); insert into words values ('kept')")
		return errors.Join(err, conn.Close(t.Context()))
	})
	for range 2 {
		conn := connect(t, template.URL(t))
		var words int
		if err := conn.QueryRow(t.Context(), "select count(*) from words").Scan(&words); err != nil || words != 1 {
			t.Errorf("a copy holds %d words, %v, want 1", words, err)
		}
		execute(t, conn, "insert into words values ('of this copy')")
	}
	if times != 1 {
		t.Errorf("the template was filled %d times", times)
	}
}

func TestRestartBreaksConnectionsAndKeepsDatabases(t *testing.T) {
	t.Parallel()
	cluster := pgtest.New(t)
	url := cluster.URL(t)
	before := connect(t, url)
	execute(t, before, "create table words (word text)")

	cluster.Restart(t)

	if err := before.Ping(t.Context()); err == nil {
		t.Error("a connection outlived the restart")
	}
	execute(t, connect(t, url), "insert into words values ('kept')")
}

func TestStopFreezesUntilContinue(t *testing.T) {
	t.Parallel()
	cluster := pgtest.New(t)
	conn := connect(t, cluster.URL(t))

	cluster.Stop(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := conn.Exec(ctx, "select 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server answered: error %v", err)
	}

	cluster.Continue(t)
	execute(t, connect(t, cluster.URL(t)), "select 1")
}

// TestServerEndsWithItsProcess runs this test in a second process that is
// killed, and waits for the folder of its server to disappear.
func TestServerEndsWithItsProcess(t *testing.T) {
	if ready := os.Getenv("PGTEST_READY"); ready != "" {
		pgtest.New(t)
		if err := os.WriteFile(ready, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		<-t.Context().Done() // until killed
	}
	t.Parallel()
	pgtest.New(t) // skips where there is no server
	temp := t.TempDir()
	if err := errors.Join(os.Chmod(temp, 0o777), os.Chmod(filepath.Dir(temp), 0o755)); err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(temp, "ready")
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerEndsWithItsProcess$")
	cmd.Env = append(os.Environ(), "PGTEST_READY="+ready, "TMPDIR="+temp)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { _, err := os.Stat(ready); return err == nil })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the second process was not killed")
	}
	waitFor(t, func() bool {
		left, err := filepath.Glob(filepath.Join(temp, "chela-pg-*"))
		return err == nil && len(left) == 0
	})
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("waited 30 s in vain")
		}
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // some are already broken
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
