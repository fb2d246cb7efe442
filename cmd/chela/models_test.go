package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/api"
	"chela/internal/model/provider/anthropic/anthropictest"
	"chela/internal/model/provider/openai/openaitest"
	"chela/internal/model/provider/providertest"
)

// A house is a home with providers that do different things.
type house struct {
	dir string
	env []string
}

// run runs chela there and returns what it printed and how it ended.
func (h house) run(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = h.env, &out, &errs
	err = cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	t.Logf("chela %s: %s%s", strings.Join(args, " "), out.String(), errs.String())
	return out.String(), cmd.ProcessState.ExitCode()
}

func newHouse(t *testing.T) house {
	t.Helper()
	words := providertest.Answer{Text: []string{"hel", "lo"}}
	calls := providertest.Answer{Calls: []providertest.Call{{Ref: "c1", Tool: "calc", Args: `{"expression":"6 * 7"}`}}}
	good := anthropictest.Serve(t, providertest.NewCase("good", words, calls, words, calls, words, calls))
	locked := openaitest.Serve(t, providertest.NewCase("locked", providertest.Answer{Fault: providertest.FaultKey}))
	mute := openaitest.Serve(t, providertest.NewCase("mute", words))
	h := house{dir: t.TempDir()}
	h.env = []string{
		"HOME=" + h.dir, "CHELA_HOME=" + filepath.Join(h.dir, "home"), "OLLAMA_HOST=127.0.0.1:1",
		"ANTHROPIC_API_KEY=" + providertest.Key, "ANTHROPIC_BASE_URL=" + good.URL,
		"OPENAI_API_KEY=" + providertest.Key, "OPENAI_BASE_URL=" + locked.URL + "/v1",
	}
	if err := os.Mkdir(filepath.Join(h.dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := `
[providers.mute]
kind = "openai"
base_url = "` + mute.URL + `/v1"
api_key = "env:OPENAI_API_KEY"

[models."mute/parrot"]
window = 8000

[providers.away]
kind = "openai"
base_url = "http://127.0.0.1:1/v1"
`
	if err := os.WriteFile(filepath.Join(h.dir, "home", "config.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// marks are the trials of a JSON document, each as its model and a sign for each
// check, and the cures of what failed.
func marks(t *testing.T, document string) (rows, cures []string) {
	t.Helper()
	var trials []api.Trial
	if err := json.Unmarshal([]byte(document), &trials); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	for _, trial := range trials {
		row := trial.Model + " "
		for _, c := range trial.Checks {
			row += map[api.CheckState]string{api.CheckPassed: "+", api.CheckFailed: "!", api.CheckUntried: "."}[c.State]
			if c.State == api.CheckFailed {
				cures = append(cures, c.Cure)
			}
		}
		rows = append(rows, row)
	}
	return rows, cures
}

// TestModelsAreTried tells for each provider that is set up whether it can be
// reached, takes the key, streams, calls a tool, and what it costs: in the
// process of the command, and through a daemon.
func TestModelsAreTried(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	want := []string{
		"anthropic/claude-sonnet-5-5 +++++", "away/any !...+", "mute/parrot +++!!", "openai/gpt-6.1-terra +!..+",
	}
	wantCures := []string{
		"check providers.away.base_url and the network",
		"use another model for work with tools: chela config set model PROVIDER/MODEL",
		"chela models set mute/parrot --window TOKENS --input DOLLARS --output DOLLARS",
		"check providers.openai.api_key: chela config get providers.openai.api_key",
	}
	check := func(where string) {
		t.Helper()
		out, code := h.run(t, "models", "test", "--json")
		rows, cures := marks(t, out)
		if diff := cmp.Diff(want, rows); diff != "" || code != 1 {
			t.Errorf("%s: ended with %d, trials (-want +got):\n%s", where, code, diff)
		}
		if diff := cmp.Diff(wantCures, cures); diff != "" {
			t.Errorf("%s: cures (-want +got):\n%s", where, diff)
		}
	}
	check("in process")
	stop := h.serve(t)
	check("through a daemon")
	stop()
	if out, code := h.run(t, "models", "test", "anthropic/claude-sonnet-5-5"); code != 0 || !strings.Contains(out, "yes  yes      yes          yes") {
		t.Errorf("a good model alone ended with %d:\n%s", code, out)
	}
}

// serve starts a daemon and returns what stops it.
func (h house) serve(t *testing.T) (stop func()) {
	t.Helper()
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = h.env
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), "listening on ") {
		continue
	}
	return func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		for lines.Scan() { // what it says until it has ended
			continue
		}
		_ = cmd.Wait() // ended by the signal
	}
}
