package routines

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"chela"
	"chela/internal/background/routine"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

// edited lets a person change a draft in an editor. A rejected draft stays in
// the file that the error names.
func (p *Program) edited(ctx context.Context, d *routine.Draft) (*routine.Draft, error) {
	if !console.IsTerminal(p.Stdin) {
		return nil, chela.E(chela.Invalid, "nothing to change was given").
			WithHint("name it with flags, such as --prompt, or run this in a terminal")
	}
	f, err := os.CreateTemp("", "routine-*.toml")
	if err != nil {
		return nil, chela.E(chela.Unavailable, "there is no room for a file to edit").WithHint("look at " + os.TempDir()).Because(err)
	}
	name := f.Name()
	head := "# The routine " + d.Routine.Name + ". What begins with # is not taken up; an empty file changes nothing.\n"
	_, err = f.WriteString(head + routine.FormText(d))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = p.editor(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read what was edited: %w", err)
	}
	if strings.TrimSpace(string(raw)) == "" {
		return d, os.Remove(name)
	}
	changed, err := routine.ParseForm(name, string(raw), *d)
	if err != nil {
		p.Note("what you wrote is in " + name + "; mend it and run chela routines edit " + d.Routine.Name + " --file " + name)
		return nil, err
	}
	return changed, os.Remove(name)
}

// editor runs the user's editor on a file.
func (p *Program) editor(ctx context.Context, file string) error {
	words := []string{"vi"}
	for _, name := range []string{"EDITOR", "VISUAL"} {
		for _, v := range p.Environ {
			if value, ok := strings.CutPrefix(v, name+"="); ok && strings.TrimSpace(value) != "" {
				words = strings.Fields(value)
			}
		}
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Out, p.Err
	if err := cmd.Run(); err != nil {
		return chela.E(chela.Unavailable, "the editor "+terminal.OneLine(words[0], 60)+" did not end well").
			WithHint("set EDITOR to one that is there, or use flags").Because(err)
	}
	return nil
}
