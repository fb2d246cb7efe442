package app_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/app"
	"chela/internal/surface/cli"
)

// holderArg makes the test binary a daemon of a home, until it is killed.
const holderArg = "hold-a-home"

func holdUntilKilled(home string) error {
	cfg, err := load(home, "")
	if err != nil {
		return err
	}
	cfg.Listen = "127.0.0.1:0"
	return app.Serve(context.Background(), cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)), app.ServeOptions{
		Ready: func(cli.ListenAddresses) { fmt.Println("ready") },
	})
}

// TestHoldEndsWithItsProcess tells the second daemon who the first is, and lets
// it in once the first was killed.
func TestHoldEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	cfg := newHome(t, echoes)
	if err := os.WriteFile(filepath.Join(filepath.Dir(string(cfg.Home)), "echo.json"), []byte(echoes), 0o600); err != nil {
		t.Fatal(err)
	}
	holder := exec.CommandContext(t.Context(), os.Args[0], holderArg, string(cfg.Home))
	var said strings.Builder
	holder.Stderr = &said
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		holder.Wait() //nolint:errcheck // what it said tells more
		t.Fatalf("the holder says %q, %v: %s", line, err, said.String())
	}
	refusal := refused(t, cfg, chela.Conflict)
	if want := fmt.Sprintf("process %d serves %s already", holder.Process.Pid, cfg.Home); !strings.Contains(refusal, want) {
		t.Errorf("refused with %q, want %q", refusal, want)
	}
	if s, err := api.Call(t.Context(), openBackend(t, cfg), api.StatusShow, api.None{}); err != nil || !s.Daemon {
		t.Errorf("the holder is not reached: %+v, %v", s, err)
	}

	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	holder.Wait() //nolint:errcheck // it was killed
	if s, err := api.Call(t.Context(), openBackend(t, cfg), api.StatusShow, api.None{}); err != nil || s.Daemon {
		t.Errorf("a dead holder is in the way of a command: %+v, %v", s, err)
	}
	serveHome(t, cfg)
	if s, err := api.Call(t.Context(), openBackend(t, cfg), api.StatusShow, api.None{}); err != nil || !s.Daemon {
		t.Errorf("the next daemon is not reached: %+v, %v", s, err)
	}
}
