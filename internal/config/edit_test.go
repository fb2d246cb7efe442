package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/config"
)

// home returns a home whose config.toml holds text.
func home(t *testing.T, text string) config.Home {
	t.Helper()
	h := config.Home(t.TempDir())
	if err := os.WriteFile(h.ConfigFile(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestSet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		text, key, with string
		want            string
	}{
		{"into nothing", "", "model", "offline/x", "model = \"offline/x\"\n"},
		{"section into nothing", "", "limits.steps", "9", "[limits]\nsteps = 9\n"},
		{"in its place", "# top\nmodel = 'offline/b' # why\n[limits]\nsteps=5#five\n", "limits.steps", "9", "# top\nmodel = 'offline/b' # why\n[limits]\nsteps=9#five\n"},
		{"beside its neighbours", "[limits]\nsteps = 5 # five\n\n# next\n[queue]\n", "limits.turn_timeout", "1h", "[limits]\nsteps = 5 # five\nturn_timeout = \"1h\"\n\n# next\n[queue]\n"},
		{"after a list of many lines", "[agents.main.tools]\nallow = [\n \"a\",\n]\n[queue]\n", "agents.main.tools.deny", "b,c", "[agents.main.tools]\nallow = [\n \"a\",\n]\ndeny = [\"b\", \"c\"]\n[queue]\n"},
		{"under an empty header", "[limits] # tight\n[queue]\n", "limits.steps", "9", "[limits] # tight\nsteps = 9\n[queue]\n"},
		{"dotted", "limits.steps = 5\n[queue]\n", "limits.turn_timeout", "1h", "limits.steps = 5\nlimits.turn_timeout = \"1h\"\n[queue]\n"},
		{"dotted in a section", "[agents]\nmain.prompt = \"x\"\n", "agents.main.model", "offline/x", "[agents]\nmain.prompt = \"x\"\nmain.model = \"offline/x\"\n"},
		{"inline", "[agents.main]\ntools = { deny = [\"a\"] }\n", "agents.main.tools.deny", "b", "[agents.main]\ntools = { deny = [\"b\"] }\n"},
		{"new in inline", "[agents.main]\ntools = { deny = [\"a\"] }\n", "agents.main.tools.allow", "b", "[agents.main]\ntools = { allow = [\"b\"], deny = [\"a\"] }\n"},
		{"new in empty inline", "limits = {}\n", "limits.steps", "9", "limits = { steps = 9 }\n"},
		{"below an inline table", "agents = { main = { } }\n", "agents.main.tools.allow", "b", "agents = { main = { tools.allow = [\"b\"] } }\n"},
		{"before the sections", "# About this file.\n\n# The queue.\n[queue]\nmode = \"collect\"\n", "name", "Ada", "# About this file.\n\nname = \"Ada\"\n# The queue.\n[queue]\nmode = \"collect\"\n"},
		{"no newline at the end", "[queue]\nmode = \"collect\"", "limits.steps", "9", "[queue]\nmode = \"collect\"\n\n[limits]\nsteps = 9\n"},
		{"no newline after the neighbour", "[limits]\nsteps = 9", "limits.turn_timeout", "1h", "[limits]\nsteps = 9\nturn_timeout = \"1h\"\n"},
		{"carriage returns", "[queue]\r\nmode = \"collect\"\r\n", "limits.steps", "9", "[queue]\r\nmode = \"collect\"\r\n\r\n[limits]\r\nsteps = 9\r\n"},
		{"quotes", "", "name", `A "B" \ C`, "name = \"A \\\"B\\\" \\\\ C\"\n"},
		{"quoted key", "", `session.identity_links."telegram:1"`, "al", "[session.identity_links]\n\"telegram:1\" = \"al\"\n"},
		{"mends what is wrong", "limits.steps = \"five\"\n", "limits.steps", "5", "limits.steps = 5\n"},
		{"lists keep their sections", "[[policy]]\nverdict = \"deny\"\n", "limits.steps", "5", "[[policy]]\nverdict = \"deny\"\n\n[limits]\nsteps = 5\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := home(t, tt.text)
			if err := config.Set(h, tt.key, tt.with); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(h.ConfigFile())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		text, key, with string
		want            string
	}{
		{"unknown", "", "limits.stpes", "5", "invalid: config set: unknown key limits.stpes; did you mean limits.steps?"},
		{"later", "", "channels.telegram", "1", "unsupported: config set: channels.telegram is not supported by this version; remove it"},
		{"section", "", "agents.main.subagents", "1", "invalid: agents.main.subagents is a section; set one of its keys, which chela config list shows"},
		{"one number twice", "[lanes]\njob = 2", "jobs.max_parallel", "3", "invalid: config set: lanes.job is 2, and jobs.max_parallel is 3, but they are one number; remove one of them"},
		{"wrong value", "", "limits.steps", "x", `invalid: config set: limits.steps cannot be "x"; write a whole number from 1 to 1000`},
		{"literal key", "", "providers.openai.api_key", "sk-123", `invalid: config set: providers.openai.api_key cannot be what was given; write "secret:NAME" once chela secrets set NAME has stored it, "env:NAME" or "exec:COMMAND", never the key itself`},
		{"not a key", "", "a b", "5", `invalid: "a b" is not a key; write one such as limits.steps (chela config list shows all)`},
		{"two lines", "", "name = 1\nx", "5", `invalid: "name = 1\nx" is not a key; write one such as limits.steps (chela config list shows all)`},
		{"list of sections", "", "policy.tool", "x", "unsupported: policy.tool is in a list of sections; change it in config.toml (chela config path says where)"},
		{"broken file", "x", "limits.steps", "5", "invalid: FILE:1:1: expected '=' after key; correct that line of config.toml"},
		{"other mistake", "[limitz]", "queue.mode", "collect", "invalid: FILE:1: unknown key limitz; did you mean limits?"},
		{"no such provider", "", "model", "x/y", `invalid: config set: model: no provider "x"; use one of anthropic, bedrock, cerebras, deepseek, fireworks, gemini, groq, llamacpp, lmstudio, mistral, offline, ollama, openai, openrouter, replay, script, together, vllm, xai, or add [providers.NAME] to config.toml`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := home(t, tt.text)
			err := config.Set(h, tt.key, tt.with)
			if got := strings.ReplaceAll(words(err), h.ConfigFile(), "FILE"); got != tt.want {
				t.Errorf("\ngot  %s\nwant %s", got, tt.want)
			}
			if after, err := os.ReadFile(h.ConfigFile()); err != nil || string(after) != tt.text {
				t.Errorf("the file changed to %q, %v", after, err)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, key, want, err string }{
		{"of a section", "[limits]\nsteps = 5 # five\nnudges = 2\n", "limits.steps", "[limits]\nnudges = 2\n", ""},
		{"the last of a section", "[limits]\nsteps = 5", "limits.steps", "[limits]\n", ""},
		{"dotted", "name = \"x\"\nlimits.steps = 5\n[queue]\n", "limits.steps", "name = \"x\"\n[queue]\n", ""},
		{"over many lines", "[agents.main.tools]\n  allow = [\n \"a\",\n]\n[queue]\n", "agents.main.tools.allow", "[agents.main.tools]\n[queue]\n", ""},
		{"not known", "limits.stpes = 5\n", "limits.stpes", "", ""},
		{"not there", "", "limits.steps", "", "not_found: limits.steps is not set in config.toml; chela config list shows its source"},
		{"neither known nor there", "", "limits.stpes", "", "invalid: config unset: unknown key limits.stpes; did you mean limits.steps?"},
		{"not a key", "", "a b", "", `invalid: "a b" is not a key; write one such as limits.steps (chela config list shows all)`},
		{"inline", "limits = { steps = 5 }\n", "limits.steps", "limits = { steps = 5 }\n", "unsupported: FILE is written in a form in which limits.steps cannot be set; change it by hand"},
		{"needed", "[providers.x]\nkind = \"openai\"\n", "providers.x.kind", "[providers.x]\nkind = \"openai\"\n", "invalid: config unset: providers.x has no kind; add kind, one of [anthropic openai openai-responses gemini ollama bedrock offline script replay]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := home(t, tt.text)
			err := config.Unset(h, tt.key)
			if got := strings.ReplaceAll(words(err), h.ConfigFile(), "FILE"); got != tt.err {
				t.Errorf("\ngot  %s\nwant %s", got, tt.err)
			}
			if after, err := os.ReadFile(h.ConfigFile()); err != nil || string(after) != tt.want {
				t.Errorf("the file is %q, %v, want %q", after, err, tt.want)
			}
		})
	}
}

func TestSetReplacesTheFileWhole(t *testing.T) {
	t.Parallel()
	h := config.Home(filepath.Join(t.TempDir(), "new", "home"))
	if err := config.Set(h, "limits.steps", "9"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(string(h))
	if err != nil || len(entries) != 1 {
		t.Fatalf("the home holds %v, %v", entries, err)
	}
	if at, err := os.Stat(h.ConfigFile()); err != nil || at.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", at.Mode(), err)
	}

	link := config.Home(t.TempDir())
	if err := os.Symlink(h.ConfigFile(), link.ConfigFile()); err != nil {
		t.Skip(err)
	}
	if err := config.Set(link, "limits.steps", "10"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(h.ConfigFile()); err != nil || string(got) != "[limits]\nsteps = 10\n" {
		t.Errorf("through a link: %q, %v", got, err)
	}
}

func FuzzSet(f *testing.F) {
	f.Add(wholeFile, "limits.steps", "9")
	f.Add("agents = { main = { } }\n", "agents.main.tools.allow", "b")
	f.Add("[limits]\nsteps = 5", "agents.x.prompt", "é\n\"")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, key, value string) {
		if _, err := load(text); err != nil {
			return
		}
		h := config.Home(dir)
		if err := os.WriteFile(h.ConfigFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := config.Set(h, key, value); err != nil {
			return
		}
		after, err := config.Load(config.Input{Home: dir})
		if err != nil {
			t.Fatalf("set %q to %q made a broken file: %v", key, value, err)
		}
		found := false
		for _, v := range after.Values() {
			found = found || strings.HasPrefix(v.Source, "file ")
		}
		if !found {
			t.Errorf("set %q to %q set nothing", key, value)
		}
	})
}
