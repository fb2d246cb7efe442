package shell_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chela"
	"chela/internal/tool/sandbox/process"
	"chela/internal/tool/shell"
	"chela/internal/tool/workspace"
)

// project makes a repository with files that programs and agents obey.
const project = `
git init -q . && git config user.email a@b.c && git config user.name a
mkdir -p .github/workflows .vscode sub/.git/hooks build
echo 'on: push' > .github/workflows/ci.yml; echo '{}' > .vscode/tasks.json; echo 'Be kind.' > AGENTS.md
printf 'all:\n\ttrue\n' > Makefile; echo '{}' > package.json; echo 'true' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push
echo 'ref: refs/heads/x' > sub/.git/HEAD; echo > sub/.git/config; mkdir sub/.git/objects sub/.git/refs
echo 'all:' > build/Makefile; ln -s Makefile GNUmakefile; echo x > notes.txt; git add -A . ":!sub"; git commit -qm begin
`

// hostile does all it can to change what programs obey, in ways that a line does not
// show. Each command may fail.
const hostile = `
for f in .git/hooks/pre-commit .git/hooks/pre-push .git/config .git/info/attributes .git/commondir .git/worktrees/x/config .git/modules/m/hooks/x \
	.github/workflows/ci.yml .github/workflows/evil.yml .vscode/tasks.json .vscode/settings.json AGENTS.md CLAUDE.md src/AGENTS.md .cursor/rules/x \
	Makefile package.json .envrc .bashrc sub/.git/hooks/post-checkout sub/.git/config new/.git/config conftest.py .gitlab-ci.yml \
	.CLAUDE.md .ClAuDe/settings.json deep/a/b/c/.github/workflows/x.yml node_modules/m/.git/hooks/x .hg/hgrc; do
	mkdir -p "$(dirname "$f")"; rm -f "$f"; echo evil > "$f"; echo evil >> "$f"
done
mkdir -p bare/objects bare/refs && echo ref > bare/HEAD && printf '[core]\n\tfsmonitor=evil\n' > bare/config
mkdir -p closed/.vscode && echo evil > closed/.vscode/tasks.json && chmod 000 closed/.vscode
ln -sf ../../evil .git/hooks/post-merge; rm GNUmakefile; ln -s evil.mk GNUmakefile
chmod +x notes.txt; ln notes.txt .gitlab-ci.yaml; mkfifo .exrc
mv .github gone; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml
mv .git moved; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; cp -r moved/. .git/ 
mv sub/.git sub/dotgit; mkdir -p sub/.git/hooks; echo evil > sub/.git/hooks/x
echo changed > build/Makefile; echo more >> notes.txt; true
`

// guards are the ways in which a command is confined.
var guards = map[string]process.Config{"namespaces": {}, "landlock": {NoNamespaces: true}}

// TestHostileScriptChangesNothingObeyed runs a script that changes what programs obey,
// in each tier. Afterwards everything obeyed is as before, what was replaced is held,
// and the other files have the changes.
func TestHostileScriptChangesNothingObeyed(t *testing.T) {
	t.Parallel()
	for name, cfg := range guards {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, run := guardedProject(t, cfg)
			before := obeyed(t, dir)
			got := run(hostile, false)
			if after := obeyed(t, dir); !slices.Equal(before, after) {
				t.Errorf("obeyed files changed:\nbefore %q\nafter  %q\n%s", before, after, got.Text)
			}
			for _, want := range []string{"[put back: /workspace/.bashrc, which programs obey (shells)", "name them in obeyed"} {
				if !strings.Contains(got.Text, want) {
					t.Errorf("the result lacks %q:\n%s", want, got.Text)
				}
			}
			if text, _ := os.ReadFile(filepath.Join(dir, workspace.HeldDir, "call_1", "CLAUDE.md")); string(text) != "evil\nevil\n" {
				t.Errorf("held is %q", text)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, "build/Makefile")); string(text) != "changed\n" {
				t.Errorf("the output folder has %q", text)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, "notes.txt")); !strings.Contains(string(text), "more") {
				t.Errorf("notes are %q", text)
			}
		})
	}
}

// TestCommitsNeedNoObeyedFile: work on a branch changes neither hooks nor settings of
// a repository, and is left as it is.
func TestCommitsNeedNoObeyedFile(t *testing.T) {
	t.Parallel()
	for name, cfg := range guards {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, run := guardedProject(t, cfg)
			run("rm -rf sub", true)
			for _, line := range []string{
				"git switch -qc work && echo y > y.txt && git add -A && git commit -qm 'add y'", "git commit -q --amend -m 'add a y'", "git tag v1",
				"echo z >> y.txt && git stash -q && git stash pop -q", "git commit -qam more && git checkout -q - && git merge -q work", "git branch -d work", "git log --oneline",
				"echo w > w.txt && git add w.txt && git commit -qm w && git revert --no-edit HEAD", "git gc -q", "git cherry-pick HEAD~1",
			} {
				if got := run(line, false); !strings.HasPrefix(got.Text, "exit code 0\n") || strings.Contains(got.Text, "put back") {
					t.Errorf("%s: %s", line, got.Text)
				}
			}
		})
	}
}

// TestAllowedCommandsChangeObeyedFiles: a command that a person allowed is not guarded,
// unless it names files: then it changes those and no others.
func TestAllowedCommandsChangeObeyedFiles(t *testing.T) {
	t.Parallel()
	dir, run := guardedProject(t, process.Config{})
	run("sh -c 'echo allowed > Makefile'", true)
	if text, _ := os.ReadFile(filepath.Join(dir, "Makefile")); string(text) != "allowed\n" {
		t.Errorf("the Makefile is %q", text)
	}
	got := run("for f in Makefile package.json .git/hooks/x; do echo named > $f; done", true, ".git/hooks", "Makefile")
	for name, want := range map[string]string{"Makefile": "named\n", ".git/hooks/x": "named\n", "package.json": "{}\n"} {
		if text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) != want {
			t.Errorf("%s is %q, want %q: %s", name, text, want, got.Text)
		}
	}
	if got := run("true", true, "../x"); !got.Failed {
		t.Errorf("a name outside is taken: %+v", got)
	}
}

// guardedProject makes the project, and returns a function that runs commands in it.
func guardedProject(t *testing.T, cfg process.Config) (dir string, run func(line string, allowed bool, names ...string) chela.ToolResult) {
	t.Helper()
	box := process.New(cfg)
	if _, err := box.Tier(t.Context()); err != nil {
		t.Skipf("there is no sandbox here: %v", err)
	}
	dir = t.TempDir()
	make := exec.CommandContext(t.Context(), "sh", "-c", project)
	make.Dir = dir
	make.Env = append(os.Environ(), "HOME="+dir)
	if out, err := make.CombinedOutput(); err != nil {
		t.Skipf("make the project: %v: %s", err, out)
	}
	tool := shell.New(box, at(dir), shell.Network{}, nil)
	return dir, func(line string, allowed bool, names ...string) chela.ToolResult {
		t.Helper()
		args, err := json.Marshal(map[string]any{"command": line, "timeout": 60, "obeyed": names})
		if err != nil {
			t.Fatal(err)
		}
		c := call(string(args))
		c.Allowed = allowed
		got, err := tool.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// obeyed lists the files that programs obey, with their contents.
func obeyed(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case name == workspace.HeldDir || name == "build":
			return filepath.SkipDir
		case d.IsDir() || workspace.ObeyedBy(name) == "" && !strings.HasPrefix(name, "bare/"):
			return nil
		}
		for _, kept := range []string{".git/objects", ".git/refs", ".git/logs", ".git/index", ".git/HEAD", "COMMIT_EDITMSG"} {
			if strings.Contains(name, kept) {
				return nil
			}
		}
		if name == "bare/HEAD" {
			return nil
		}
		text, _ := os.ReadFile(path)
		if target, err := os.Readlink(path); err == nil {
			text = []byte(target)
		}
		all = append(all, name+" "+string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
