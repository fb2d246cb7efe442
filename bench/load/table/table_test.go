package table_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chela"
	"chela/bench/load/table"
)

// TestMain makes this very program stand in for the one that is measured. It
// ends by the plain system call then: os.Exit waits for a second under the race
// detector.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"init", "tokens", "serve"}, os.Args[1]) {
		if err := standIn(os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0)
	}
	os.Exit(inFolder(m.Run))
}

// inFolder runs the tests with a folder for all that is temporary, in which the
// stand-in leaves a file whenever it ends as it should.
func inFolder(run func() int) int {
	dir, err := os.MkdirTemp("", "load-test-")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	code := 1
	if err == nil {
		code = run()
	}
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var baseURL = regexp.MustCompile(`base_url = "(.*)"`)

// standIn is a server that passes turns on to the model of its home, knows no
// other route, and wants its token.
func standIn(command string, args []string) error {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	home, listen := flags.String("home", "", ""), flags.String("listen", "", "")
	flags.Bool("yes", false, "")
	flags.Bool("json", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(*home, "config.toml"))
	if err != nil {
		return err
	}
	if strings.Contains(string(config), "broken") {
		return errors.New("these settings are broken")
	}
	if command == "init" {
		return nil
	}
	if command == "tokens" {
		_, err := fmt.Println(`{"id":"tok_1","secret":"secret"}`)
		return err
	}
	base, err := url.Parse(string(baseURL.FindSubmatch(config)[1]))
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ln, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", ln.Addr())
	server := &http.Server{Handler: routes(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: base.Scheme, Host: base.Host}))}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	<-ctx.Done()
	if err := errors.Join(server.Close(), <-served); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return os.WriteFile(*home+".ended", nil, 0o600)
}

func routes(model http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "who asks?", http.StatusUnauthorized)
			return
		}
		model.ServeHTTP(w, r)
	})
	return mux
}

func setup(t *testing.T) table.Bench {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return table.Bench{Program: program, Scale: .002, Now: time.Now, Progress: io.Discard}
}

// TestTable measures the stand-in, which runs no tools, tells no events, has no
// routines and refuses nothing.
func TestTable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Database = "postgres://not-asked" // the stand-in stores nothing
	var out strings.Builder
	if err := b.Run(t.Context(), &out); !errors.Is(err, table.ErrMissed) {
		t.Errorf("tools and events cannot have been measured: %v", err)
	}
	for _, want := range []string{
		"| measured | SQLite | PostgreSQL | target | |\n|---|---|---|---|---|\n",
		"| ready after start, small home | ",
		"| resident memory, idle | ",
		"| median overhead of a turn, 1 session | ",
		"| text turns, 64 sessions | ",
		"| text turns, 1,000 sessions | ",
		"| streamed text turns, 64 sessions | ",
		"| tool | (failed: ",
		"| events | (failed: ",
		"| routines | (failed: ",
		"| at 3 times the capacity: refused without Retry-After | 0 | 0 | ≤ 0 | ok |",
		"| memory after a soak of 10 minutes, over that after 2 | ",
		"| ready after start, large home | ",
		"| text turns, 64 sessions, PostgreSQL over SQLite | ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not hold %q", want)
		}
	}
	if n := strings.Count(out.String(), "failed: "); n != 6 || t.Failed() {
		t.Errorf("%d failures, want those of tools, events and routines in both places:\n%s", n, &out)
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Only = "thousand, streams"
	var out strings.Builder
	if err := b.Run(t.Context(), &out); err != nil && !errors.Is(err, table.ErrMissed) {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got != 2+2+3 {
		t.Errorf("%d lines for two steps of one and two rows:\n%s", got, &out)
	}
}

func TestServerThatCannotBe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Only = "streams"
	b.Config = filepath.Join(t.TempDir(), "more.toml")
	if err := os.WriteFile(b.Config, []byte("broken = true"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := b.Run(t.Context(), &out); !errors.Is(err, table.ErrMissed) || !strings.Contains(out.String(), "these settings are broken") {
		t.Errorf("error %v\n%s", err, &out)
	}
	b.Program = filepath.Join(t.TempDir(), "none")
	if err := b.Run(t.Context(), &out); chela.KindOf(err) != chela.NotFound {
		t.Errorf("a program that is not there: %v", err)
	}
}

// TestInterrupted shows that the server is asked to end, and does, when whoever
// measures is interrupted.
func TestInterrupted(t *testing.T) {
	b := setup(t)
	t.Setenv("TMPDIR", t.TempDir())
	b.Only, b.Scale = "start", 1000
	ctx, cancel := context.WithCancel(t.Context())
	b.Now = func() time.Time {
		if ended, _ := filepath.Glob(filepath.Join(os.TempDir(), "*.ended")); len(ended) > 0 {
			cancel() // while a later server runs
		}
		return time.Now()
	}
	if err := b.Run(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "chela-load-*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || !strings.HasSuffix(left[0], ".ended") {
		t.Errorf("left behind: %v", left)
	}
}
