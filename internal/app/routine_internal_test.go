package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
	"chela/internal/config"
)

const working = `
turns:
  - {when: build it, steps: [{text: "[NOTIFY] It is built."}]}
  - {when: look at, steps: [{text: "[NOTIFY] All is well.", expect: {no_tools: [time, report]}}]}
past_end: echo
`

// stayingHome opens a home whose model plays a scenario, in a process that stays.
func stayingHome(t *testing.T, scenario string) *App {
	t.Helper()
	return stayingAt(t, scenario, time.Now, "CHELA_HEARTBEAT_ENABLED=false")
}

// stayingAt is stayingHome with a clock, and with more of a configuration.
func stayingAt(t *testing.T, scenario string, now func() time.Time, environ ...string) *App {
	t.Helper()
	a := openedHome(t, scenario, now, environ...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }() // the cleanup waits for it
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	a.Stay(t.Context())
	return a
}

// openedHome opens such a home without running it, and closes it at the end.
func openedHome(t *testing.T, scenario string, now func() time.Time, environ ...string) *App {
	t.Helper()
	dir, err := os.MkdirTemp("", "chela") // a short path, for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "scenario.yaml")
	if err := os.WriteFile(path, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Input{Environ: append(environ,
		"CHELA_HOME="+filepath.Join(dir, "home"), "CHELA_MODEL=script/"+path, "CHELA_SESSION_DAILY_RESET=off",
	)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := open(t.Context(), cfg, slog.New(slog.NewTextHandler(t.Output(), nil)), opening{version: "test", now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestRoutinesOfAHome lets routines fire in a whole home: by hand through a job, and
// by a message, a single call of the model.
func TestRoutinesOfAHome(t *testing.T) {
	t.Parallel()
	a := stayingHome(t, working)
	ctx := t.Context()
	made := func(name string, kind chela.ActionKind, text string, trigger chela.Trigger) chela.Routine {
		v, err := a.background.Routines().Create(ctx, chela.Routine{
			Name: name, Enabled: true, Trigger: trigger, Action: chela.RoutineAction{Kind: kind, Text: text}, Origin: chela.Origin{Owner: true},
		}, "test")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	build := made("build", chela.ActionJob, "build it", chela.Trigger{Kind: chela.TriggerManual})
	watch := made("watch", chela.ActionLight, "look at", chela.Trigger{Kind: chela.TriggerEvent, Pattern: "(?i)deploy"})
	if _, err := a.background.Routines().Fire(ctx, build.ID, routine.Firing{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ingress.Accept(ctx, chela.Inbound{Session: chela.MainKey("main"), Text: "Deploy it.", Origin: chela.Origin{Channel: "terminal"}}); err != nil {
		t.Fatal(err)
	}
	for v, want := range map[*chela.Routine]string{&build: "It is built.", &watch: "All is well."} {
		run := endedRun(t, a, v.ID)
		if run.State != chela.RunOK || run.Notified != want {
			t.Errorf("%s: %s %q, told %q", v.Name, run.State, run.Reason, run.Notified)
		}
		if (run.Job != "") != (v == &build) {
			t.Errorf("%s: job %q", v.Name, run.Job)
		}
	}
	told, err := a.background.Notices().Pending(ctx, api.NoticeChannel)
	var texts []string
	for _, o := range told {
		texts = append(texts, o.Text)
	}
	if got := strings.Join(texts, " "); err != nil || len(texts) != 2 || !strings.Contains(got, "built") || !strings.Contains(got, "well") {
		t.Errorf("told %q, %v", texts, err)
	}
}

// endedRun waits until the only run of a routine has ended.
func endedRun(t *testing.T, a *App, id chela.RoutineID) chela.RoutineRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		runs, err := a.background.Routines().Runs(ctx, id, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) == 1 && runs[0].State.Ended() {
			return runs[0]
		}
		a.settle(ctx)
	}
}
