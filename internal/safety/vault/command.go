package vault

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"chela"
)

// commandWait bounds a command of a password manager.
const commandWait = 5 * time.Second

// maxOutput bounds what such a command prints, in bytes.
const maxOutput = 64 << 10

// Commands resolves references "exec:COMMAND", as in `exec:op read op://vault/item/field`.
// The words of the command are split as a shell does, and the program is started
// without one: nothing in them is expanded. What it prints, without the last line
// end, is the secret. Results are kept in memory until Forget.
//
// It is safe for concurrent use; one command runs at a time, since password
// managers may ask their owner to unlock them.
type Commands struct {
	env  []string
	mu   sync.Mutex
	kept map[string]string
}

// NewCommands returns a resolver whose programs get the environment env.
func NewCommands(env []string) *Commands { return &Commands{env: env, kept: map[string]string{}} }

// Resolve returns the secret of a command. It returns [chela.Invalid] for a
// command with an expansion, and [chela.Unavailable] if the program fails, prints
// nothing or takes longer than five seconds.
func (c *Commands) Resolve(ctx context.Context, command string) (string, error) {
	args, err := Words(command)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if value, ok := c.kept[command]; ok {
		return value, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commandWait, fmt.Errorf("no answer within %v", commandWait))
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.WaitDelay = c.env, time.Second
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{&out}, &limited{&stderr}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", chela.E(chela.Unavailable, fmt.Sprintf("%s printed no secret: %v", args[0], err)).
			WithHint("run it in a terminal, and unlock the password manager: " + command)
	}
	value := strings.TrimRight(out.String(), "\r\n")
	if value == "" {
		return "", chela.E(chela.Unavailable, args[0]+" printed nothing").WithHint("run it in a terminal: " + command)
	}
	if lines := strings.Count(value, "\n") + 1; lines > 1 {
		return "", chela.E(chela.Unavailable, fmt.Sprintf("%s printed %d lines, and a secret is one", args[0], lines)).
			WithHint("let it print nothing but the secret, as with a field or an option of its own: " + command)
	}
	c.kept[command] = value
	return value, nil
}

// Forget drops the result of a command, so that the next use asks the program again.
func (c *Commands) Forget(command string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, command)
}

// Words splits a command into words as a shell does. It returns [chela.Invalid]
// for anything but one simple command without expansions.
func Words(command string) (words []string, err error) {
	invalid := chela.E(chela.Invalid, "a reference exec: is one program with its arguments, without variables, pipes or other shell syntax")
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, invalid
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || stmt.Background || len(stmt.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, invalid
	}
	for _, w := range call.Args {
		text, ok := literal(w.Parts)
		if !ok {
			return nil, invalid
		}
		words = append(words, text)
	}
	return words, nil
}

func literal(parts []syntax.WordPart) (text string, ok bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text += strings.ReplaceAll(p.Value, `\`, "")
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			text += p.Value
		case *syntax.DblQuoted:
			inner, ok := literal(p.Parts)
			if !ok || p.Dollar {
				return "", false
			}
			text += inner
		default:
			return "", false
		}
	}
	return text, true
}

// limited fails a program that prints more than [maxOutput].
type limited struct{ to *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.to.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("more than %d bytes", maxOutput)
	}
	return l.to.Write(p)
}
