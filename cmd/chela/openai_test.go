package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clientTime is how long the client of OpenAI may take in all, and before that
// its installation.
const clientTime = 2 * time.Minute

// TestOpenAIClient drives chela serve with the official client of OpenAI; what
// it does is in testdata/openai/client.mjs. Without npm, or where it reaches no
// registry, the test is skipped; where CI=true it fails.
func TestOpenAIClient(t *testing.T) {
	t.Parallel()
	dir := installClient(t)
	d := startDaemon(t, "CHELA_MODEL=script/"+filepath.Join(dir, "model.yaml"))
	ctx, cancel := context.WithTimeout(t.Context(), clientTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "client.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"CHELA_URL=http://"+d.address, "CHELA_TOKEN="+d.run("tokens", "create", "client"),
		"CHELA_READ_TOKEN="+d.run("tokens", "create", "--scope", "read", "looker"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the client: %v\n%s\nthe daemon:\n%s", err, out, d.stderr())
	}
	d.stop()
}

// installClient returns a folder with the client and what it is to do.
func installClient(t *testing.T) string {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing("the client of OpenAI needs %s: %v", program, err)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "openai"))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), clientTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		missing("npm cannot install the client of OpenAI: %v\n%s", err, out)
	}
	return dir
}

// A daemon is chela serve on a home of its own.
type daemon struct {
	t       *testing.T
	binary  string
	env     []string
	cmd     *exec.Cmd
	errs    *output
	address string
}

// startDaemon starts a daemon and waits until it listens.
func startDaemon(t *testing.T, env ...string) *daemon {
	t.Helper()
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, binary: binary, errs: &output{}}
	d.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CHELA_HOME=" + filepath.Join(t.TempDir(), "home")}, env...)
	ctx, cancel := context.WithTimeout(context.Background(), 2*clientTime)
	t.Cleanup(cancel)
	d.cmd = exec.CommandContext(ctx, binary, "serve", "--listen", "127.0.0.1:0", "--json")
	d.cmd.Env, d.cmd.Stderr = d.env, d.errs
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() }) // one that has ended already is fine
	var at struct{ Addresses []string }
	if err := json.NewDecoder(stdout).Decode(&at); err != nil || len(at.Addresses) == 0 {
		t.Fatalf("the daemon does not listen: %v\n%s", err, d.stderr())
	}
	d.address = at.Addresses[0]
	return d
}

// run runs a command on the daemon's home and returns its output.
func (d *daemon) run(args ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.binary, args...)
	var errs bytes.Buffer
	cmd.Env, cmd.Stderr = d.env, &errs
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("chela %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// stop ends the daemon as an init system does.
func (d *daemon) stop() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("the daemon ended with %v\n%s", err, d.stderr())
	}
}

// stderr is what the daemon has written there.
func (d *daemon) stderr() string {
	text, _ := d.errs.text()
	return text
}
