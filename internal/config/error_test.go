package config_test

import (
	"io/fs"
	"strings"
	"testing"

	"chela"
	"chela/internal/config"
)

const path = "/home/me/.chela/config.toml"

func TestFileErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		text string
		want string // without the path of the file
	}{
		{"broken", "model = \"offline/rules\"\nlimits.steps 5", "invalid: :2:14: expected '=' after key; correct that line of config.toml"},
		{"twice", "name = \"a\"\nname = \"b\"", "invalid: :2:1: key name is already defined; correct that line of config.toml"},
		{"not UTF-8", "name = \"a\"\n# \xff", "invalid: :2:3: invalid UTF-8 character in comment; correct that line of config.toml"},
		{"unknown key", "\n[limits]\nstpes = 5", "invalid: :3: unknown key limits.stpes; did you mean limits.steps?"},
		{"unknown section", "[limitz]", "invalid: :1: unknown key limitz; did you mean limits?"},
		{"nothing near", "zzzzzzzzzz = 1", "invalid: :1: unknown key zzzzzzzzzz; remove it; chela config list shows every key"},
		{"unknown in a named section", "[providers.x]\nkind = \"openai\"\nbase-url = \"\"", "invalid: :3: unknown key providers.x.base-url; did you mean providers.x.base_url?"},
		{"quoted key is no path", "\"limits.steps\" = 5", `invalid: :1: unknown key "limits.steps"; did you mean limits.steps?`},
		{"quoted place is no place", "[policy.\"[1]\"]\nverdict = \"deny\"", `invalid: :1: unknown key policy."[1]"; did you mean policy[]?`},
		{"later", "channels.telegram = 1", "unsupported: :1: channels.telegram is not supported by this version; remove it"},
		{"later section", "[channels.telegram]\ntoken = \"x\"", "unsupported: :1: channels.telegram is not supported by this version; remove it"},
		{"a limit below zero", "[limits]\nusd_per_day = -1", "invalid: :2: limits.usd_per_day cannot be -1; write an amount in dollars from 0 to 100000000, with at most six digits behind the point"},
		{"policy without containers", "[sandbox]\nmode = \"process\"\npolicy = \"full_access\"", "invalid: :3: sandbox.policy full_access needs containers, and sandbox.mode is process; use sandbox.mode docker, or sandbox.policy workspace_write"},
		{"wrong type", "[limits]\nsteps = \"fifty\"", `invalid: :2: limits.steps cannot be "fifty"; write a whole number from 1 to 1000`},
		{"out of range", "limits.steps = 0", "invalid: :1: limits.steps cannot be 0; write a whole number from 1 to 1000"},
		{"too large for 64 bits", "limits.steps = 99999999999999999999", "invalid: :1:16: "},
		{"float", "limits.steps = 5.5", "invalid: :1: limits.steps cannot be 5.5; write a whole number from 1 to 1000"},
		{"table for a value", "limits.steps = {}", "invalid: :1: limits.steps cannot be that; write a whole number from 1 to 1000"},
		{"section for a value", "[limits.steps]", "invalid: :1: limits.steps cannot be that; write a whole number from 1 to 1000"},
		{"value for a section", "limits = 5", "invalid: :1: limits is a section; write it as [limits]"},
		{"time", "limits.turn_timeout = \"30\"", `invalid: :1: limits.turn_timeout cannot be "30"; write a time such as "90s", from 1s to 24h`},
		{"zone", "timezone = \"Mars/Olympus\"", `invalid: :1: timezone cannot be "Mars/Olympus"; write the name of a time zone, such as "Europe/Berlin", or "local" for that of the machine`},
		{"no zone", "timezone = \"\"", `invalid: :1: timezone cannot be ""; write the name of a time zone, such as "Europe/Berlin", or "local" for that of the machine`},
		{"word", "queue.mode = \"colect\"", `invalid: :1: queue.mode cannot be "colect"; write one of collect, followup, steer, steer-backlog, queue, interrupt`},
		{"list of numbers", "tools.http_allow = [1]", `invalid: :1: tools.http_allow cannot be that; write a list of hosts, addresses or prefixes such as "10.1.0.0/16"`},
		{"control characters", "name = \"a\\u001b[31m\"", `invalid: :1: name cannot be "a\u001B[31m"; write a name on one line`},
		{"model", "model = \"gpt\"", `invalid: :1: model cannot be "gpt"; write provider/model, such as "openai/gpt-5"`},
		{"model of nobody", "model = \"opneai/gpt\"", `invalid: :1: model: no provider "opneai"; did you mean openai?`},
		{"agent's model of nobody", "[agents.a]\nmodel = \"x/gpt\"", `invalid: :2: agents.a.model: no provider "x"; use one of anthropic, bedrock, cerebras, deepseek, fireworks, gemini, groq, llamacpp, lmstudio, mistral, offline, ollama, openai, openrouter, replay, script, together, vllm, xai, or add [providers.NAME] to config.toml`},
		{"provider without kind", "\n[providers.local]\nbase_url = \"http://x/\"", "invalid: :2: providers.local has no kind; add kind, one of [anthropic openai openai-responses gemini ollama bedrock offline script replay]"},
		{"empty provider", "[providers.local]", "invalid: :1: providers.local has no kind; add kind, one of [anthropic openai openai-responses gemini ollama bedrock offline script replay]"},
		{"address of nobody", "[providers.x]\nkind = \"offline\"\nbase_url = \"http://x/\"", "invalid: :3: providers.x.base_url does not apply to kind offline; remove it"},
		{"bad name", "[agents.\"A b\"]", `invalid: :1: "A b" cannot be a name; use lower-case letters, digits, "_" and "-"`},
		{"bad channel", "[queue.channels.\"A b\"]", `invalid: :1: "A b" cannot be a name; use lower-case letters, digits, "_" and "-"`},
		{"bad channel of a value", "queue.channels.\"A b\".cap = 1", `invalid: :1: "A b" cannot be a name; use lower-case letters, digits, "_" and "-"`},
		{"channels alike", "[queue.channels.a-b]\n[queue.channels.a_b]", "invalid: :2: queue.channels a-b and a_b map to the same environment variables; rename one of them"},
		{"unknown key of a channel", "[queue.channels.http]\nmodus = 1", "invalid: :2: unknown key queue.channels.http.modus; did you mean queue.channels.http.mode?"},
		{"cap", "queue.cap = 0", "invalid: :1: queue.cap cannot be 0; write a whole number from 1 to 256"},
		{"debounce", "queue.debounce_ms = -1", "invalid: :1: queue.debounce_ms cannot be -1; write a whole number from 0 to 60000"},
		{"names alike", "[agents.a-b]\n[agents.a_b]", "invalid: :2: agents a-b and a_b map to the same environment variables; rename one of them"},
		{"single policy", "[policy]\ntool = \"x\"", "invalid: :1: policy is a section; write it as [[policy]]"},
		{"empty policy list", "policy = []", "invalid: :1: policy is a section; write it as [[policy]]"},
		{"inline policy", "policy = {}", "invalid: :1: policy is a section; write it as [[policy]]"},
		{"no verdict", "[[policy]]\nverdict = \"ask\"\n[[policy]]\ntool = \"x\"", "invalid: :3: policy[2] has no verdict; add verdict, one of deny, ask, allow"},
		{"deep", "x = " + strings.Repeat("[", 20_000), "invalid: :1:10005: "},
		{"large", strings.Repeat("#", 300_000), "invalid:  is larger than 262144 bytes; remove everything that is not configuration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(tt.text)
			got := strings.ReplaceAll(words(err), path, "")
			if got != tt.want && !(strings.HasSuffix(tt.want, ": ") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("\ngot  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestKeysAreNotRepeated(t *testing.T) {
	t.Parallel()
	const key = "sk-very-secret-key"
	for name, in := range map[string]config.Input{
		"key":         input("[providers.x]\nkind = \"openai\"\napi_key = \"" + key + "\""),
		"without \"":  input("[providers.x]\napi_key = " + key),
		"environment": input("", "CHELA_PROVIDERS_OPENAI_API_KEY="+key),
		"as a name":   input("[providers.x]\napi_key = \"env:" + key + "\""),
		"in a URL":    input("", "OPENAI_BASE_URL=http://me:"+key+"@host/"),
		"in database": input("", "DATABASE_URL=mysql://me:"+key+"@host/"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(in)
			if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(words(err), "; ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEnvironmentErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		pair string
		want string
	}{
		{"unknown", "CHELA_LIMITS_STEP=5", "invalid: unknown environment variable CHELA_LIMITS_STEP; did you mean CHELA_LIMITS_STEPS?"},
		{"unknown and empty", "CHELA_FROBNICATION_LEVEL=", "invalid: unknown environment variable CHELA_FROBNICATION_LEVEL; unset it; chela config list shows every key"},
		{"unknown in a section", "CHELA_PROVIDERS_X_BASEURL=5", "invalid: unknown environment variable CHELA_PROVIDERS_X_BASEURL; did you mean CHELA_PROVIDERS_NAME_BASE_URL?"},
		{"wrong amount", "CHELA_LIMITS_USD_PER_DAY=lots", `invalid: CHELA_LIMITS_USD_PER_DAY: limits.usd_per_day cannot be "lots"; write an amount in dollars from 0 to 100000000, with at most six digits behind the point`},
		{"later section", "CHELA_CHANNELS_TELEGRAM_TOKEN=5", "unsupported: CHELA_CHANNELS_TELEGRAM_TOKEN: channels is not supported by this version; unset it"},
		{"wrong", "CHELA_LIMITS_STEPS=many", `invalid: CHELA_LIMITS_STEPS: limits.steps cannot be "many"; write a whole number from 1 to 1000`},
		{"document's name", "MAX_PARALLEL_JOBS=0", `invalid: MAX_PARALLEL_JOBS: jobs.max_parallel cannot be 0; write a whole number from 1 to 10000`},
		{"foreign database", "DATABASE_URL=mysql://x", `invalid: DATABASE_URL: database.url cannot be what was given; write empty, or a URL such as "postgres://user@host/name"`},
		{"test build", "CHELA_FAIL=x", ""},
		{"somebody else's", "CHELATE=x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := load("", tt.pair); words(err) != tt.want {
				t.Errorf("\ngot  %s\nwant %s", words(err), tt.want)
			}
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	in := input("")
	in.ReadFile = func(string) ([]byte, error) { return nil, fs.ErrPermission }
	_, err := config.Load(in)
	want := "denied: cannot read " + path + "; make it a file that you may read, or choose another home with --home"
	if words(err) != want {
		t.Errorf("got %s", words(err))
	}
}

func TestUnknownValue(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "")
	_, err := c.Value("limits.step")
	if want := `invalid: unknown key "limits.step"; did you mean limits.steps?`; words(err) != want {
		t.Errorf("got %s", words(err))
	}
	for _, tt := range []struct{ key, hint string }{
		{"limit.steps", "did you mean limits.steps?"},
		{"steps", "did you mean jobs.steps or limits.steps?"},
		{"timeout", "did you mean jobs.timeout, routines.timeout or subagents.timeout?"},
		{"turn_timeout", "did you mean limits.turn_timeout?"},
		{"limits.timeout", "did you mean limits.turn_timeout?"},
		{"usd_per_day", "did you mean limits.usd_per_day?"},
		{"limits.usd_day", "did you mean limits.usd_per_day?"},
		{"sandbox.net", "did you mean sandbox.network?"},
		{"sandbox.hosts", "did you mean sandbox.network_hosts?"},
		{"sandbox.memory", "did you mean sandbox.memory_mib?"},
		{"sandbox", "it is a section: name one of its keys, which chela config list shows"},
		{"log", "it is a section: name one of its keys, which chela config list shows"},
		{"providers.openai.key", "did you mean providers.openai.api_key?"},
		{"providers.openai.url", "did you mean providers.openai.base_url?"},
		{"providers.openai.apikey", "did you mean providers.openai.api_key?"},
		{"openai.api_key", "did you mean providers.openai.api_key?"},
		{"approval.expire", "did you mean approvals.expires?"},
		{"loglevel", "did you mean log.level?"},
		{"log.lvl", "did you mean log.level?"},
		{"model.name", "did you mean model?"},
		{"profile.default", "did you mean profile?"},
		{"agents.main.modle", "did you mean agents.main.model?"},
		{"queue.debounce", "did you mean queue.debounce_ms?"},
		{"time-zone", "did you mean timezone?"},
		{"frobnicate", "see chela config list"},
	} {
		if _, err := c.Value(tt.key); chela.HintOf(err) != tt.hint {
			t.Errorf("%s: hint %q, want %q", tt.key, chela.HintOf(err), tt.hint)
		}
	}
	_, err = c.Agent("other")
	if want := `not_found: no agent "other"; use one of main, or add [agents.NAME] to config.toml`; words(err) != want {
		t.Errorf("got %s", words(err))
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(wholeFile))
	f.Add([]byte("[[policy]]\nverdict=\"deny\"\n[agents]\nx={tools.allow=['a']}"))
	f.Add([]byte("a.b.\"c d\" = [[1, {x = 1979-05-27}], 0o7, inf]\r\n'' = 1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := load(string(text))
		switch {
		case err != nil && !strings.Contains(words(err), "; "):
			t.Errorf("no cure: %v", err)
		case err != nil && strings.HasPrefix(words(err), "internal"):
			t.Errorf("unclassified: %v", err)
		case err == nil && len(c.Values()) == 0:
			t.Error("a valid configuration has no values")
		}
	})
}
