package app

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/store"
)

// TestTextFromOutsideIsMarked: the prompt shows where a page begins and ends, and what
// the agent wrote itself has no marks. A question after a page with a phrase of an
// attack says so.
func TestTextFromOutsideIsMarked(t *testing.T) {
	t.Parallel()
	all := loadInjections(t)
	for page, c := range map[string]struct {
		effect, tool string
		suspect      bool
	}{"page": {"hook_file", "write_file", false}, "crude": {"write_agents", "memory_write", true}} {
		v := newVictim(t, "page", all)
		v.fetch(page, page, c.effect)
		reasons := strings.Join(v.approve(), "\n")
		if !strings.Contains(reasons, "after reading ") || strings.Contains(reasons, "which has phrases of an attack on agents") != c.suspect {
			t.Errorf("%s: asked %q", page, reasons)
		}
		var entries []chela.Entry
		err := v.store.Read(t.Context(), func(r *store.Read) error {
			s, err := r.Session(t.Context(), chela.SessionKey("agent:main:main:thread:"+page))
			if err == nil {
				entries, err = r.Entries(t.Context(), s.Thread, 0, 100)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		marked := map[string]string{}
		for _, e := range entries {
			if r, ok := e.Body.(chela.ResultBody); ok {
				marked[r.Tool] = r.Outside
			}
		}
		if source, ran := marked[c.tool]; !ran || source != "" || !strings.HasPrefix(marked["http"], v.site) {
			t.Errorf("%s: marked are %v", page, marked)
		}
	}
}
