package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/config"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	const file = "model = \"offline/file\"\n[lanes]\njob = 2\n"
	tests := []struct {
		name    string
		text    string
		environ []string
		flags   map[string]string
		want    map[string]string
	}{
		{"default", "", nil, nil, map[string]string{
			"model": "offline/rules (default: no key found)", "lanes.job": "64 (default)",
		}},
		{"file", file, nil, nil, map[string]string{
			"model": "offline/file (file config.toml:1)", "lanes.job": "2 (file config.toml:3)",
		}},
		{"environment", file, []string{"CHELA_MODEL=offline/env", "MAX_PARALLEL_JOBS=3"}, nil, map[string]string{
			"model": "offline/env (env CHELA_MODEL)", "lanes.job": "3 (default: jobs.max_parallel)", "jobs.max_parallel": "3 (env MAX_PARALLEL_JOBS)",
		}},
		{"our name before the documents'", file, []string{"CHELA_LANES_JOB=4", "MAX_PARALLEL_JOBS=3"}, nil, map[string]string{
			"lanes.job": "4 (env CHELA_LANES_JOB)", "jobs.max_parallel": "4 (default: lanes.job)",
		}},
		{"the longest key of a name", "", []string{
			"CHELA_AGENTS_A_CHEAP_MODEL=offline/x", "CHELA_AGENTS_A_SUBAGENTS_MODEL=offline/y", "CHELA_AGENTS_A_MODEL=offline/z",
		}, nil, map[string]string{
			"agents.a.cheap_model":     "offline/x (env CHELA_AGENTS_A_CHEAP_MODEL)",
			"agents.a.subagents.model": "offline/y (env CHELA_AGENTS_A_SUBAGENTS_MODEL)",
			"agents.a.model":           "offline/z (env CHELA_AGENTS_A_MODEL)",
		}},
		{"flag", file, []string{"CHELA_MODEL=offline/env"}, map[string]string{"model": "offline/flag"}, map[string]string{
			"model": "offline/flag (flag --model)",
		}},
		{"empty variable is not set", file, []string{"CHELA_MODEL=", "AGENT_NAME="}, nil, map[string]string{
			"model": "offline/file (file config.toml:1)", "name": "chela (default)",
		}},
		{"lists and names in the environment", "[agents.a-b]\nmodel = \"offline/x\"", []string{
			"CHELA_AGENTS_A_B_TOOLS_DENY=shell, http", "CHELA_AGENTS_NEW_TOOLS_ALLOW=[\"a,b\"]",
			"CHELA_PROVIDERS_LOCAL_KIND=openai", "OPENAI_BASE_URL=http://localhost:1/v1",
		}, nil, map[string]string{
			"agents.a-b.tools.deny":     `["shell", "http"] (env CHELA_AGENTS_A_B_TOOLS_DENY)`,
			"agents.new.tools.allow":    `["a,b"] (env CHELA_AGENTS_NEW_TOOLS_ALLOW)`,
			"providers.local.kind":      "openai (env CHELA_PROVIDERS_LOCAL_KIND)",
			"providers.openai.base_url": "http://localhost:1/v1 (env OPENAI_BASE_URL)",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := input(tt.text, tt.environ...)
			in.Flags = tt.flags
			c, err := config.Load(in)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for key := range tt.want {
				keys = append(keys, key)
			}
			if diff := cmp.Diff(tt.want, sources(t, c, keys...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
