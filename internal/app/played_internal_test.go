package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"

	"chela/internal/config"
)

// playedHome returns the configuration of a home whose model a test plays. Nothing
// happens in it by the time of day.
func playedHome(t *testing.T, home, model string) *config.Config {
	t.Helper()
	cfg, err := config.Load(config.Input{
		Environ: []string{
			"CHELA_HOME=" + home, "CHELA_MODEL=" + model, "CHELA_SESSION_DAILY_RESET=off", "CHELA_HEARTBEAT_ENABLED=false",
			"MODEL_KEY=key", "HOOK=hook-secret",
		}, ReadFile: os.ReadFile,
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// runHome opens a home and runs it, as a daemon does, until the test ends.
func runHome(t *testing.T, cfg *config.Config, o opening) *App {
	t.Helper()
	a, err := open(t.Context(), cfg, slog.New(slog.DiscardHandler), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }() // the cleanup waits for it
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, a.Close()); err != nil {
			t.Error(err)
		}
	})
	a.Stay(t.Context())
	return a
}
