package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/engine/prompt"
)

func TestFrameWithOffers(t *testing.T) {
	t.Parallel()
	of := func(names ...string) (specs []chela.ToolSpec) {
		for _, name := range names {
			specs = append(specs, chela.ToolSpec{Name: name, Input: json.RawMessage(`{}`)})
		}
		return specs
	}
	for _, c := range []struct {
		name         string
		have, offers []chela.ToolSpec
		want         []chela.ToolSpec
	}{
		{"none", of("a", "b"), nil, of("a", "b")},
		{"behind", of("a", "b"), of("d", "c"), of("a", "b", "d", "c")},
		{"in place of one", of("a", "b"), of("c", "a"), of("b", "c", "a")},
		{"alone", nil, of("a"), of("a")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			have := append(make([]chela.ToolSpec, 0, 8), c.have...) // room that must not be written to
			f := prompt.Frame{System: "text", Tools: have}.Counted()
			first, second := f.With(c.offers), f.With(of("x", "y"))
			if diff := cmp.Diff(c.want, first.Tools); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(first.Counted(), first); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
			if first.System != f.System || len(second.Tools) != len(c.have)+2 {
				t.Errorf("frames %+v and %+v", first, second)
			}
			if diff := cmp.Diff(c.have, f.Tools, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the frame changed (-want +got):\n%s", diff)
			}
		})
	}
}

// Offers count as part of the prompt.
func TestOffersTakeRoom(t *testing.T) {
	t.Parallel()
	f := prompt.Frame{Window: 1000}
	large := chela.ToolSpec{Name: "a", Description: strings.Repeat("word ", 1000)}
	b := prompt.DefaultSettings().Budget(f.With([]chela.ToolSpec{large}))
	if err := b.Check(prompt.Conversation{}); chela.KindOf(err) != chela.Exhausted {
		t.Errorf("error %v, want kind %s", err, chela.Exhausted)
	}
}
