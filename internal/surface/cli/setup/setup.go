// Package setup creates a home: its first config.toml, and the few settings that a
// person is asked for.
package setup

import (
	"context"
	_ "embed" // for the first config.toml
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"chela"
	"chela/internal/config"
	"chela/internal/surface/terminal"
)

// firstConfig is the config.toml of a new home: every line of it is a comment.
//
//go:embed first_config.toml
var firstConfig []byte

// WriteConfig makes the home and writes its config.toml, unless there is one. Errors
// are Denied.
func WriteConfig(home config.Home) error {
	if err := writeConfig(home); err != nil {
		return chela.E(chela.Denied, "cannot write "+home.ConfigFile()).
			WithHint("make the folder writable, or choose another with --home").Because(err)
	}
	return nil
}

func writeConfig(home config.Home) error {
	if err := os.MkdirAll(string(home), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(home.ConfigFile(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(firstConfig)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// A question is about one setting.
type question struct {
	key string
	why string
}

// questions are few: everything else has a sensible default.
var questions = []question{
	{"model", "Which model answers, as provider/model. Its key is never written here: it is read from the environment,\n" +
		"such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY. offline/rules needs none, and is no real model."},
	{"listen", "Where chela serve listens for programs and pages. 127.0.0.1 is this machine alone."},
	{"sandbox.mode", "How commands that the agent runs are shut in: auto (as well as this machine can), process, docker, or off (which needs --insecure too)."},
}

// Ask asks a person for the most important settings and writes the answers into
// config.toml; Enter keeps the current value. An invalid answer is asked for
// again. It ends with console.ErrInterrupted at the end of input.
func Ask(ctx context.Context, p *terminal.Printer, in *terminal.Input, cfg *config.Config) error {
	p.Note("Enter keeps what is in [brackets]; chela config set changes it later.")
	for _, q := range questions {
		now, err := cfg.Value(q.key)
		if err != nil {
			return err
		}
		p.Note("\n" + q.why)
		if err := (interview{p, in, cfg.Home}).ask(ctx, q, now.Value); err != nil {
			return err
		}
	}
	return nil
}

// An interview asks a person about the settings of a home.
type interview struct {
	p    *terminal.Printer
	in   *terminal.Input
	home config.Home
}

// ask repeats one question until the answer is valid.
func (i interview) ask(ctx context.Context, q question, now string) error {
	p := i.p
	for {
		p.Prompt(q.key + " [" + now + "]: ")
		line, err := i.in.Line(ctx)
		switch {
		case errors.Is(err, io.EOF):
			p.Note("")
			return terminal.ErrInterrupted
		case err != nil:
			return fmt.Errorf("read an answer: %w", err)
		case line == "" || line == now:
			return nil
		}
		err = config.Set(i.home, q.key, line)
		if chela.KindOf(err) != chela.Invalid && chela.KindOf(err) != chela.Unsupported {
			return err
		}
		p.Note(chela.MessageOf(err))
	}
}
