package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela"
	"chela/internal/tool/workspace"
)

func TestObeyedBy(t *testing.T) {
	t.Parallel()
	for by, paths := range map[string][]string{
		"": {
			"", ".", "a", "notes/plan.md", ".gitignore", "a/.gitattributes", ".gitkeep", "main.go", "go.mod", "README.md", "src/build/x", "git", "github/x", "config", "hooks/pre-commit", "makefile/x", ".env.example", "*", "*.md", "$x", "a*", "docs/agents", "*.json", "package.jsonx", "xpackage.json", ".gitx/config",
		},
		"version control": {
			".git", ".git/config", ".git/hooks/pre-commit", "a/b/.git/info/x", "a/../.git/config", "./.git//config", "/workspace/.git/config", ".GIT/config", ".Git/Hooks/x", "ｇit/../.ｇit/config", ".g\u200cit/config", ".gıt/../.git", ".git./config", ".git /config", ".git::$INDEX_ALLOCATION/config",
			"GIT~1/config", `.git\config`, `a\.git\config`, ".gitconfig", ".gitmodules", ".husky/pre-push", ".pre-commit-config.yaml", "lefthook.yml", ".g*t/config", ".git/*", "*/.git/x", ".gi*",
		},
		"editors":                 {".vscode/tasks.json", ".VSCode/settings.json", ".idea/x.xml", ".vimrc", ".exrc", ".nvim.lua", "a/.dir-locals.el", ".devcontainer/devcontainer.json", "x.code-workspace"},
		"shells":                  {".bashrc", ".bash_profile", ".zshrc", ".profile", ".envrc", "a/.ENVRC", ".env", ".env.local", ".config/fish/config.fish", ".local/bin/ls", "mise.toml", "~/.bashrc"},
		"network clients":         {".ssh/config", ".ssh/authorized_keys", "authorized_keys", ".npmrc", ".pypirc", ".netrc", ".aws/config", "\u212Anown_hosts", ".ſsh/config"},
		"interpreters":            {"sitecustomize.py", "x.pth", ".gdbinit"},
		"build tools":             {"Makefile", "makefile", "GNUmakefile", "rules.mk", "justfile", "Taskfile.yml", "CMakeLists.txt", "x.cmake", "build.gradle", "build.gradle.kts", "Rakefile", "a/b/Makefile", "jest.config.js", "Make*", "make*ile"},
		"package managers":        {"package.json", "a/package.json", "setup.py", "pyproject.toml", "conftest.py", "build.rs", "Cargo.toml", ".cargo/config.toml", "composer.json", "Gemfile", "go.work", "pack*.json"},
		"continuous integration":  {".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", ".travis.yml"},
		"containers and services": {"Dockerfile", "a/Dockerfile.dev", "docker-compose.yml", "compose.yaml", "x.service", "x.timer", "x.desktop", "etc/systemd/x", "crontab"},
		"agents":                  {"CLAUDE.md", "AGENTS.md", "a/agents.md", ".cursor/rules/x.mdc", ".claude/settings.json", ".mcp.json", "skills/x/SKILL.md", ".cursorrules"},
	} {
		for _, p := range paths {
			if got := workspace.ObeyedBy(p); got != by {
				t.Errorf("%q: obeyed by %q, want %q", p, got, by)
			}
		}
	}
}

func TestGuardObeyed(t *testing.T) {
	t.Parallel()
	j := chela.Judgement{Effect: chela.EffectWrite, Subjects: []string{"/workspace/a"}}
	if got := workspace.GuardObeyed(j, "", "a"); got.Risk != "" || got.Exact || got.Floor() {
		t.Errorf("a plain file: %+v", got)
	}
	got := workspace.GuardObeyed(j, "a", "x/../.git/config")
	if want := "it changes a file that programs run or obey: /workspace/.git/config (version control)"; got.Risk != want || !got.Exact || !got.Floor() {
		t.Errorf("a file that is obeyed: %+v", got)
	}
}

// A name that leads through a link to a file that programs obey is refused:
// what was asked about is another file.
func TestLinksToObeyedFiles(t *testing.T) {
	t.Parallel()
	w, dir := open(t)
	for _, d := range []string{".git/hooks", "plain", "deep/er"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"to": ".git", "toHooks": ".git/hooks", "again": "to", "deep/er/up": "../../.git", "harmless": "plain", "plain/.vscode": "../deep", "loop": "loop", ".git/out": "../plain",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, allowed := range map[string]bool{
		"to/config": false, "to/hooks/x": false, "toHooks/x": false, "again/config": false, "deep/er/up/config": false, "to/new/x": false,
		"plain/a": true, "harmless/a": true, ".git/config": true, ".git/hooks/x": true, "plain/.vscode/x": true,
	} {
		err := w.Write(t.Context(), "call "+name, workspace.Change{Name: name, Content: []byte("x")})
		switch {
		case allowed && err != nil:
			t.Errorf("%s: %v", name, err)
		case !allowed && (chela.KindOf(err) != chela.Denied || !strings.Contains(chela.MessageOf(err), "leads to /workspace/.git")):
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".git/new")); err == nil {
		t.Error("a folder was made behind a link")
	}
}
