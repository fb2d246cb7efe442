package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/app"
	"chela/internal/config"
	"chela/internal/surface/cli"
)

// shortDir returns a folder with a path that leaves room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "chela")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// neverAnew keeps the conversations of a test from depending on the hour.
const neverAnew = "CHELA_SESSION_DAILY_RESET=off"

// careful makes commands of a test ask.
const careful = "CHELA_PROFILE=careful"

// newHome returns the configuration of a home that is not there yet, whose model
// plays a scenario.
func newHome(t *testing.T, scenario string, environ ...string) *config.Config {
	t.Helper()
	dir := shortDir(t)
	path := filepath.Join(dir, "scenario.yaml")
	if err := os.WriteFile(path, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	return loaded(t, append([]string{
		"CHELA_HOME=" + filepath.Join(dir, "home"), "CHELA_MODEL=script/" + path, "CHELA_LISTEN=127.0.0.1:0", neverAnew, careful,
	}, environ...)...)
}

func loaded(t *testing.T, environ ...string) *config.Config {
	t.Helper()
	cfg, err := config.Load(config.Input{Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// openBackend opens a home as commands do, until the test ends.
func openBackend(t *testing.T, cfg *config.Config) *cli.Backend {
	t.Helper()
	b, err := app.Backend(t.Context(), cfg, slog.New(slog.NewTextHandler(t.Output(), nil)), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// A lockedText is a log that several goroutines write to.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A daemon serves a home in this process.
type daemon struct {
	cfg     *config.Config
	at      cli.ListenAddresses
	log     *lockedText
	end     func() error // ends it and returns what Serve returned
	private *http.Client // through the socket
}

// serveHome serves a home until the test ends, and returns when it is ready.
func serveHome(t *testing.T, cfg *config.Config) *daemon {
	t.Helper()
	d := &daemon{cfg: cfg, log: &lockedText{}}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan cli.ListenAddresses, 1), make(chan error, 1)
	go func() { // end waits for it
		ended <- app.Serve(ctx, cfg, slog.New(slog.NewTextHandler(d.log, nil)), app.ServeOptions{
			Version: "test", Ready: func(at cli.ListenAddresses) { ready <- at },
		})
	}()
	d.end = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	select {
	case d.at = <-ready:
	case err := <-ended:
		cancel()
		t.Fatalf("serve: %v", err)
	}
	d.private = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", cfg.Home.Socket())
		},
	}}
	t.Cleanup(func() {
		if err := d.end(); err != nil {
			t.Errorf("served: %v", err)
		}
	})
	return d
}

// refused serves a home, which must end before it is ready with an error of a
// kind, and returns what people are told.
func refused(t *testing.T, cfg *config.Config, kind chela.Kind) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := app.Serve(ctx, cfg, slog.New(slog.DiscardHandler), app.ServeOptions{
		Ready: func(at cli.ListenAddresses) {
			t.Errorf("it listens on %v", at.Addresses)
			cancel()
		},
	})
	if got := chela.KindOf(err); got != kind || chela.HintOf(err) == "" {
		t.Errorf("refused with kind %q, want %q, and a cure: %v", got, kind, err)
	}
	return chela.MessageOf(err)
}

// asks sends a request through the socket and decodes its answer into out.
func (d *daemon) asks(t *testing.T, request, body string, out any) int {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, "http://chela"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := d.private.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(bytes.TrimSpace(raw), out); err != nil {
		t.Fatalf("%s: %v in %s", request, err, raw)
	}
	return res.StatusCode
}

// gets is asks for an answer that must be a success.
func gets[T any](t *testing.T, d *daemon, request, body string) (out T) {
	t.Helper()
	var raw json.RawMessage
	status := d.asks(t, request, body, &raw)
	if status/100 != 2 {
		t.Fatalf("%s is %d: %s", request, status, raw)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v in %s", request, err, raw)
	}
	return out
}

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	nothing := func(*testing.T, *config.Config) {}
	for name, tt := range map[string]struct {
		listen string
		before func(t *testing.T, cfg *config.Config)
		want   chela.Kind
	}{
		"a port in use":                         {taken.Addr().String(), nothing, chela.Unavailable},
		"a port in use, with a token":           {taken.Addr().String(), withToken, chela.Unavailable},
		"every address without a token":         {"0.0.0.0:0", nothing, chela.Denied},
		"every IPv6 address without a token":    {"[::]:0", nothing, chela.Denied},
		"every address with a token that ended": {"0.0.0.0:0", withRevokedToken, chela.Denied},
		"a home that is a file": {"127.0.0.1:0", func(t *testing.T, cfg *config.Config) {
			if err := os.WriteFile(string(cfg.Home), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, chela.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := newHome(t, echoes, "CHELA_LISTEN="+tt.listen)
			tt.before(t, cfg)
			refused(t, cfg, tt.want)
			if _, err := os.Stat(cfg.Home.Socket()); err == nil {
				t.Error("there is a socket")
			}
			refused(t, cfg, tt.want) // and not because the home is held
		})
	}
}

// withToken makes a token by hand.
func withToken(t *testing.T, cfg *config.Config) {
	t.Helper()
	madeToken(t, cfg, false)
}

// withRevokedToken makes one and ends it.
func withRevokedToken(t *testing.T, cfg *config.Config) {
	t.Helper()
	madeToken(t, cfg, true)
}

func madeToken(t *testing.T, cfg *config.Config, end bool) string {
	t.Helper()
	b, err := app.Backend(t.Context(), cfg, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	made, err := api.Call(t.Context(), b, api.TokensCreate, api.NewToken{Name: "laptop", Scope: chela.ScopeChat})
	if err == nil && end {
		_, err = api.Call(t.Context(), b, api.TokensRevoke, api.TokenRef{ID: made.ID})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return made.Secret
}

// TestServeBeyondLoopback lets in who has a token, by address, and nobody for
// being near.
func TestServeBeyondLoopback(t *testing.T) {
	t.Parallel()
	cfg := newHome(t, echoes, "CHELA_LISTEN=0.0.0.0:0")
	secret := madeToken(t, cfg, false)
	d := serveHome(t, cfg)
	if d.at.Tokens != 1 || len(d.at.Addresses) != 1 {
		t.Fatalf("listening is %+v", d.at)
	}
	_, port, err := net.SplitHostPort(d.at.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	for authorization, want := range map[string]int{"": http.StatusUnauthorized, "Bearer " + secret: http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/api/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", authorization)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("with authorization of %d bytes: %s, want %d", len(authorization), res.Status, want)
		}
	}
}

func TestServeEndsWithItsPartOfTheHome(t *testing.T) {
	t.Parallel()
	cfg := newHome(t, echoes)
	for range 2 { // the second one finds what the first left
		d := serveHome(t, cfg)
		var health struct{ Status string }
		if status := d.asks(t, "GET /readyz", "", &health); status != http.StatusOK || health.Status != "ok" {
			t.Errorf("ready: %d, %+v", status, health)
		}
		got := gets[api.Status](t, d, "GET /api/status", "")
		if !got.Daemon || got.Listen != d.at.Addresses[0] || got.Version != "test" {
			t.Errorf("status is %+v", got)
		}
		if err := d.end(); err != nil {
			t.Errorf("served: %v", err)
		}
		if _, err := os.Stat(cfg.Home.Socket()); err == nil {
			t.Error("there is a socket")
		}
		if left, err := os.ReadDir(cfg.Home.Run()); len(left) != 0 || err != nil {
			t.Errorf("left of the process: %v, %v", left, err)
		}
		for _, want := range []string{"msg=serving address=" + got.Listen, "msg=served error=<nil>"} {
			if !strings.Contains(d.log.String(), want) {
				t.Errorf("%s is not in the log: %s", want, d.log)
			}
		}
	}
}

func TestSocketOfADaemon(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(path string) error{
		"none": func(string) error { return nil },
		"one that was left": func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return l.Close()
		},
		"a file of the name": func(path string) error { return os.WriteFile(path, []byte("?"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := newHome(t, echoes)
			if err := os.MkdirAll(string(cfg.Home), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := before(cfg.Home.Socket()); err != nil {
				t.Fatal(err)
			}
			serveHome(t, cfg)
			st, err := os.Stat(cfg.Home.Socket())
			if err != nil || st.Mode() != os.ModeSocket|0o600 {
				t.Errorf("the socket is %v: %v", st.Mode(), err)
			}
			if s, err := api.Call(t.Context(), openBackend(t, cfg), api.StatusShow, api.None{}); err != nil || !s.Daemon {
				t.Errorf("a command does not go through the daemon: %+v, %v", s, err)
			}
		})
	}
}

// TestSocketPathTooLong lets the daemon work without a socket, which it logs;
// commands open the home themselves.
func TestSocketPathTooLong(t *testing.T) {
	t.Parallel()
	cfg := newHome(t, echoes)
	long := filepath.Join(filepath.Dir(string(cfg.Home)), strings.Repeat("long", 25))
	cfg = loaded(t, "CHELA_HOME="+long, "CHELA_MODEL="+cfg.Model, "CHELA_LISTEN=127.0.0.1:0")
	d := serveHome(t, cfg)
	if !strings.Contains(d.log.String(), "level=WARN msg=\"commands cannot use the daemon\"") {
		t.Errorf("the log does not tell: %s", d.log)
	}
	res, err := http.Get(fmt.Sprintf("http://%s/readyz", d.at.Addresses[0]))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("it is not ready: %s", res.Status)
	}
	if s, err := api.Call(t.Context(), openBackend(t, cfg), api.StatusShow, api.None{}); err != nil || s.Daemon {
		t.Errorf("a command goes through the daemon: %+v, %v", s, err)
	}
}
