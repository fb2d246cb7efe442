package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
)

func TestCompaction(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
[compaction]
reserve_tokens = 1000
reserve_floor = 2000
memory_flush = false

[models."script/a b.yaml"]
window = 32000
`, "CHELA_COMPACTION_KEEP_RECENT_TOKENS=3000", "CHELA_COMPACTION_SOFT_THRESHOLD=500")
	want := config.Compaction{ReserveTokens: 1000, ReserveFloor: 2000, KeepRecentTokens: 3000, SoftThreshold: 500}
	if diff := cmp.Diff(want, c.Compaction); diff != "" {
		t.Errorf("compaction (-want +got):\n%s", diff)
	}
	if got := c.Models()["script/a b.yaml"].Window; got != 32000 {
		t.Errorf("window %d", got)
	}
	if got := c.Models()["offline/rules"].Window; got != 0 {
		t.Errorf("window %d of a model that nothing is said about", got)
	}
	keys := sources(t, c, `models."script/a b.yaml".window`, "compaction.memory_flush")
	if diff := cmp.Diff(map[string]string{
		`models."script/a b.yaml".window`: "32000 (file config.toml:8)", "compaction.memory_flush": "false (file config.toml:5)",
	}, keys); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

func TestModelsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rules", "nobody/rules", "offline/"} {
		_, err := load("\n[models.\"" + name + "\"]\nwindow = 32000\n")
		if chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), "config.toml:2: models.") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
