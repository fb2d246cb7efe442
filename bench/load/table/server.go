package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	"chela"
	"chela/bench/load/measure"
)

// A home is a home for the program that is measured.
type home struct {
	bench    *Bench
	dir      string
	database string // URL; empty for SQLite in the home
	token    string
}

// newHome makes an empty home whose model is the fake one at base, and a token
// for it.
func (b *Bench) newHome(ctx context.Context, base, database, settings string) (*home, error) {
	dir, err := os.MkdirTemp("", "chela-load-")
	if err != nil {
		return nil, err
	}
	h := &home{bench: b, dir: dir, database: database}
	if err := h.initialize(ctx, base, settings); err != nil {
		return nil, errors.Join(err, h.remove())
	}
	return h, nil
}

func (h *home) initialize(ctx context.Context, base, settings string) error {
	config := fmt.Sprintf("model = \"fake/load\"\n\n[providers.fake]\nkind = \"openai\"\nbase_url = %q\n%s\n", base, settings)
	if h.bench.Config != "" {
		more, err := os.ReadFile(h.bench.Config)
		if err != nil {
			return fmt.Errorf("read more settings: %w", err)
		}
		config += string(more)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "config.toml"), []byte(config), 0o600); err != nil {
		return err
	}
	if _, err := h.told(ctx, "init", "--yes"); err != nil {
		return fmt.Errorf("make a home: %w", err)
	}
	// Not the first token: where homes share a database, one of them has it.
	out, err := h.told(ctx, "tokens", "create", "load", "--scope", "admin")
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	var made struct{ Secret string }
	if err := json.Unmarshal(out, &made); err != nil || made.Secret == "" {
		return chela.E(chela.Unavailable, fmt.Sprintf("the program made no token: %s", bytes.TrimSpace(out)))
	}
	h.token = made.Secret
	return nil
}

// told runs a command and returns the document that it prints.
func (h *home) told(ctx context.Context, args ...string) ([]byte, error) {
	said := &speech{}
	cmd := h.command(ctx, append(args, "--json")...)
	cmd.Stderr = said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return out, err
}

func (h *home) remove() error { return os.RemoveAll(h.dir) }

// command is the program with arguments. It knows nothing of the environment of
// whoever measures, so no key or setting comes in. When ctx ends it is asked to
// end too.
func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.bench.Program, append(args, "--home", h.dir)...)
	cmd.Dir = h.dir
	cmd.Env = []string{"HOME=" + h.dir, "PATH=/usr/local/bin:/usr/bin:/bin"}
	if h.database != "" {
		cmd.Env = append(cmd.Env, "DATABASE_URL="+h.database)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second // twice what a shutdown may take; then it is killed
	return cmd
}

// patience is how long a server may take to be ready.
const patience = time.Minute

// A server is a running daemon.
type server struct {
	url   string // without the version
	token string
	pid   int
	ready time.Duration // from its start until it took messages

	stop func() error // asks it to end, and waits
}

// start begins a daemon and waits until it is ready. The caller stops it.
func (h *home) start(ctx context.Context) (*server, error) {
	ctx, cancel := context.WithCancel(ctx)
	said := &speech{heard: make(chan string, 1)}
	cmd := h.command(ctx, "serve", "--listen", "127.0.0.1:0")
	cmd.Stderr = said
	begun := h.bench.Now()
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("begin a server: %w", err)
	}
	gone := make(chan struct{})
	wait := measure.Begin(func() error {
		defer close(gone)
		return cmd.Wait()
	})
	s := &server{token: h.token, pid: cmd.Process.Pid}
	s.stop = sync.OnceValue(func() error {
		cancel()
		switch err := wait(); {
		case errors.Is(err, context.Canceled): // that is how a clean end looks
			return nil
		case err == nil:
			return fmt.Errorf("the server ended by itself: %s", said)
		default:
			return fmt.Errorf("the server ended badly: %w: %s", err, said)
		}
	})
	if err := s.appear(ctx, said.heard, gone); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.ready = h.bench.Now().Sub(begun)
	return s, nil
}

// appear waits until the server said where it listens and takes messages.
func (s *server) appear(ctx context.Context, heard <-chan string, gone <-chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the server was not ready within %v", patience))
	defer cancel()
	select {
	case s.url = <-heard:
	case <-gone:
		return errors.New("the server ended before it listened")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for !s.takes(ctx, client) {
		if measure.Pause(ctx, time.Millisecond) != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (s *server) takes(ctx context.Context, client *http.Client) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// speech is what a program says on its standard error. The first address in it
// goes to heard, unless that is nil.
type speech struct {
	mu    sync.Mutex
	text  []byte // the end of it; under mu
	told  bool   // under mu
	heard chan string
}

// memory is how much of what is said is kept, for when it was about an error.
const memory = 8 << 10

var address = regexp.MustCompile(`https?://[0-9A-Za-z.\[\]:-]+:[0-9]+\b`)

func (s *speech) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, text...)
	if whole := bytes.LastIndexByte(s.text, '\n'); !s.told && s.heard != nil && whole >= 0 {
		if found := address.Find(s.text[:whole]); found != nil {
			s.told = true
			s.heard <- string(found)
		}
	}
	if over := len(s.text) - memory; over > 0 {
		s.text = s.text[over:]
	}
	return len(text), nil
}

// String returns the end of what was said.
func (s *speech) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(bytes.TrimSpace(s.text))
}
