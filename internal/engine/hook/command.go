package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"time"

	"chela"
	"chela/internal/platform/local"
)

// commandEnv is the complete environment of a command.
var commandEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}

// endTime is how long the pipes of a killed command may stay open.
const endTime = time.Second

// A command is a hook that runs a program.
type command struct {
	argv []string
	dir  string
}

// ask is an askFunc. The program and all its child processes have ended when
// it returns.
func (c command) ask(ctx context.Context, m Moment) (outcome, error) {
	input, err := json.Marshal(m)
	if err != nil {
		return outcome{}, err
	}
	var out, trouble bounded
	out.limit, trouble.limit = maxAnswer+1, 1<<10
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.dir, commandEnv, endTime
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(append(input, '\n')), &out, &trouble
	local.Group(cmd)
	err = cmd.Run()
	if cmd.Process != nil {
		// Kill child processes that outlived the command; usually there are
		// none.
		if left := local.KillGroup(cmd); err == nil && left != nil && !errors.Is(left, os.ErrProcessDone) {
			err = left
		}
	}
	if err != nil {
		return outcome{}, chela.E(chela.Unavailable, "the command failed: "+err.Error()+tail(trouble.Bytes())).Because(err)
	}
	return read(out.Bytes(), m)
}

// tail formats the error output of a command for the log.
func tail(text []byte) string {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return ""
	}
	return ": " + string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
}

// A bounded buffer keeps the first bytes written to it.
type bounded struct {
	bytes.Buffer
	limit int
}

// Write accepts everything and keeps as much as fits.
func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), b.limit-b.Len())])
	return len(p), nil
}
