// Package pgtest gives tests real PostgreSQL databases. It starts servers of
// its own in temporary directories, reached only through a Unix socket, and
// never touches a running server. The server that tests share keeps its files
// in memory if there is room.
//
// Servers outlive neither the test process nor a kill of it: a shell beside
// each holds the read end of a pipe, and at EOF it stops the server and removes
// its directory.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser is the name of the database's superuser.
const superuser = "chela"

// patience is the timeout of one command to a server. Starting one takes about
// a second on an idle machine.
const patience = time.Minute

var errNoServer = errors.New("no PostgreSQL server found: initdb is neither in PATH nor in /usr/lib/postgresql/*/bin (make services installs it)")

// shared returns the server shared by the tests of this process.
var shared = sync.OnceValues(func() (*Cluster, error) { return begin(inMemory()) })

// URL returns the URL of an empty database on the shared server, which the
// first call starts. The database is dropped when t ends. Without PostgreSQL on
// the machine the test is skipped; with CI=true it fails.
func URL(t testing.TB) string {
	t.Helper()
	c, err := shared()
	check(t, err)
	return c.URL(t)
}

// A Cluster is one running PostgreSQL server.
type Cluster struct {
	bin      string         // folder of initdb and pg_ctl
	dir      string         // holds data, the socket and the log
	account  account        // the account the server runs as
	guard    *exec.Cmd      // stops the server and removes dir
	alive    io.WriteCloser // the guard waits for its end
	counter  atomic.Int64   // of databases
	commands sync.Mutex     // one pg_ctl at a time
}

// New starts a server for t alone, for tests that stop or restart it, or that
// measure a disk. It ends with t. Like URL it skips or fails t without
// PostgreSQL.
func New(t testing.TB) *Cluster {
	t.Helper()
	c, err := begin("")
	check(t, err)
	t.Cleanup(func() {
		if err := c.end(); err != nil {
			t.Errorf("end PostgreSQL: %v", err)
		}
	})
	return c
}

func check(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, errNoServer) && os.Getenv("CI") != "true":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

// URL returns the URL of an empty database that is dropped when t ends.
func (c *Cluster) URL(t testing.TB) string {
	t.Helper()
	return c.copy(t, "template1")
}

// copy returns the URL of a copy of a database that is dropped when t ends.
func (c *Cluster) copy(t testing.TB, of string) string {
	t.Helper()
	name, err := c.make(of)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.exec("drop database " + name + " with (force)"); err != nil {
			t.Error(err)
		}
	})
	return c.url(name)
}

// make makes a copy of a database and returns its name.
func (c *Cluster) make(of string) (string, error) {
	name := "chela_" + strconv.FormatInt(c.counter.Add(1), 10)
	return name, c.exec("create database " + name + " template " + of)
}

func (c *Cluster) url(database string) string {
	query := url.Values{"host": {c.dir}, "sslmode": {"disable"}}
	return "postgres://" + superuser + "@/" + database + "?" + query.Encode()
}

func (c *Cluster) exec(sql string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL in %s: %w", c.dir, err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// Restart stops the server immediately, as in a crash, and returns when it
// accepts connections again. All connections are lost.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	if err := c.control("restart", "-m", "immediate"); err != nil {
		t.Fatal(err)
	}
}

// Stop freezes every process of the server: it keeps its connections and does
// not answer until Continue.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	if err := c.signal(stopSignal); err != nil {
		t.Fatal(err)
	}
}

// Continue resumes a stopped server.
func (c *Cluster) Continue(t testing.TB) {
	t.Helper()
	if err := c.signal(continueSignal); err != nil {
		t.Fatal(err)
	}
}

// begin initializes a cluster in a folder (a temporary one if empty) and starts
// its server.
func begin(in string) (_ *Cluster, err error) {
	bin, err := findServer()
	if err != nil {
		return nil, err
	}
	who, err := findAccount()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(in, "chela-pg-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, dir: dir, account: who}
	if err := errors.Join(who.own(dir), c.startGuard()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.end())
		}
	}()
	err = c.run("initdb", "--pgdata", c.data(), "--no-sync", "--auth=trust",
		"--username="+superuser, "--encoding=UTF8", "--locale=C")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(c.data(), "postgresql.auto.conf"), c.settings(), 0o600); err != nil {
		return nil, err
	}
	return c, c.control("start")
}

// settings trade durability for speed: commits survive a crash of the server,
// but not of the machine.
func (c *Cluster) settings() []byte {
	return fmt.Appendf(nil, `listen_addresses = ''
unix_socket_directories = '%s'
max_connections = 200
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 128MB
jit = off
`, c.dir)
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }
func (c *Cluster) log() string  { return filepath.Join(c.dir, "log") }

// startGuard starts the shell that cleans up after this process. Only end waits
// for it, since it may outlive this process.
func (c *Cluster) startGuard() error {
	const script = `cat; kill -CONT $(head -n 1 "$2/data/postmaster.pid")
		"$1/pg_ctl" stop --pgdata "$2/data" -m immediate; rm -rf "$2"`
	c.guard = exec.Command("sh", "-c", script, "sh", c.bin, c.dir) //nolint:noctx // it ends when alive is closed
	c.guard.Dir = c.dir
	c.account.detach(c.guard)
	var err error
	if c.alive, err = c.guard.StdinPipe(); err != nil {
		return err
	}
	return c.guard.Start()
}

// end stops the server and removes its directory.
func (c *Cluster) end() error {
	if err := c.alive.Close(); err != nil {
		return err
	}
	return c.guard.Wait()
}

func (c *Cluster) control(args ...string) error {
	c.commands.Lock()
	defer c.commands.Unlock()
	args = append(args, "--pgdata", c.data(), "--log", c.log(), "--wait")
	if err := c.run("pg_ctl", args...); err != nil {
		said, _ := os.ReadFile(c.log()) // there is none when it never began
		return fmt.Errorf("%w\n%s", err, said)
	}
	return nil
}

func (c *Cluster) run(program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	c.account.detach(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, args[0], err, out)
	}
	return nil
}

// findServer returns the folder of the server's programs: the target of initdb
// in PATH, or else the newest version installed by a distribution.
func findServer() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		program, err := filepath.EvalSymlinks(found)
		return filepath.Dir(program), err
	}
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(installed) == 0 {
		return "", errNoServer
	}
	newest := slices.MaxFunc(installed, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

// version returns the major version in the path of an initdb, or 0.
func version(initdb string) int {
	n, _ := strconv.Atoi(strings.Split(initdb, "/")[4]) // 0 sorts below every version
	return n
}
