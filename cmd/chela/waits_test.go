package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chela"
)

// digger is a model that asks before it digs.
const digger = `
past_end: repeat
turns:
  - {when: dig, steps: [{calls: [{tool: shell, args: {command: "touch hole && echo a hole"}}]}, {text: "{{result 0}}"}]}
`

// TestFireTellsWhatItWaitsFor waits for the runs of a routine that asks a person, in this
// process and through a daemon: what is asked is told once, with how it is answered.
func TestFireTellsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	for name, served := range map[string]bool{"alone": false, "served": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "digger.yaml")
			if err := os.WriteFile(path, []byte(digger), 0o600); err != nil {
				t.Fatal(err)
			}
			d := newDaemon(t, "", "CHELA_MODEL=script/"+path, "CHELA_HEARTBEAT_ENABLED=false")
			d.configure(asksForCommands)
			if served {
				d.begin()
			}
			for _, do := range []string{"turn", "job"} {
				d.run("routines", "create", do, "--manual", "--do", do, "--prompt", "dig")
				said, out := d.fireAndAnswer(do)
				if !strings.Contains(out, "a hole") {
					t.Errorf("%s: the run said %q", do, out)
				}
				if n := strings.Count(said, "answer with chela approvals yes apr_"); n != 1 {
					t.Errorf("%s: what is asked was told %d times: %s", do, n, said)
				}
			}
		})
	}
}

// fireAndAnswer lets a routine fire, says yes to what its run asks as it is told to, and
// returns what was said meanwhile, and what the run said.
func (d *daemon) fireAndAnswer(name string) (said, out string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.binary, "routines", "fire", name, "--wait")
	var stdout bytes.Buffer
	stderr := &output{}
	cmd.Env, cmd.Stdout, cmd.Stderr = d.env, &stdout, stderr
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	asks := regexp.MustCompile(`chela approvals yes (apr_\w+)`)
	d.until("the run asks", func() bool {
		text, _ := stderr.text()
		return asks.MatchString(text)
	})
	text, _ := stderr.text()
	var asked []chela.Approval
	read(d.t, d.run("approvals", "list", "--json"), &asked)
	id := asks.FindStringSubmatch(text)[1]
	if len(asked) != 1 || string(asked[0].ID) != id {
		d.t.Errorf("%v are asked, and %s is told", asked, id)
	}
	d.run("approvals", "yes", id)
	if err := cmd.Wait(); err != nil {
		d.t.Errorf("fire ended with %v", err)
	}
	text, _ = stderr.text()
	return text, stdout.String()
}
