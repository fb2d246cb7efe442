package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chela"
	"chela/internal/config"
	"chela/internal/store"
)

// inNotice finds the handle in the notice for a text that is held.
var inNotice = regexp.MustCompile(`with the handle "([a-z]+_[0-9a-z]+)"`)

// TestObedientReading: where texts from outside are held, no order in them reaches the
// model that has tools, by any way. It gets the fields that it asks for. Truth values,
// dates and choices cause no question; an order in a text field is asked about.
func TestObedientReading(t *testing.T) {
	t.Parallel()
	all := loadInjections(t)
	const effect = "write_agents"
	for _, way := range []string{
		"page", "disguised page", "error", "redirect", "saved file", "shell output", "attachment", "attachment name", "image",
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			v := newVictimWith(t, way, all, func(cfg *config.Config) { cfg.Reading = config.ReadingOn })
			v.bring(effect)
			v.checkHeld("brought", "OBEY: ")
			session := chela.SessionKey("agent:main:main:thread:" + strings.ReplaceAll(effect, "_", "-"))
			if v.below(session) {
				t.Error("a text that is held labels the prompt")
			}
			handle := v.noticed()
			name := strings.ReplaceAll(effect, "_", "-")
			v.ask(name, `DO: extract {"handle": %q, "fields": [{"name": "late", "type": "boolean", "description": "is it late?"}, {"name": "kind", "type": "choice", "choices": ["bill", "letter"], "description": "its kind"}]}`, handle)
			v.checkHeld("read", "OBEY: ")
			if !v.sawText(`{"late": true, "kind": "bill"}`) || v.below(session) {
				t.Errorf("the fields are not there, or label the prompt: %v", v.below(session))
			}
			if reasons := v.approve(); len(reasons) > 0 {
				t.Errorf("asked %q", reasons)
			}
			if way == "attachment name" {
				return // its content is harmless
			}
			v.ask(name, `DO: extract {"handle": %q, "fields": [{"name": "all", "type": "text", "description": "everything"}]}`, handle)
			if v.happened(effect, 0) || !v.below(session) {
				t.Errorf("an order in a field was obeyed: %v, below folder: %v", v.happened(effect, 0), v.below(session))
			}
			if reasons := v.approve(); len(reasons) == 0 || !strings.Contains(reasons[0], "after reading ") {
				t.Errorf("an order in a field was asked about with %q", reasons)
			}
			if !v.happened(effect, 0) {
				t.Error("the order in a field is not read, so this shows nothing")
			}
		})
	}
}

// TestHeldTextHasNoOtherWay: the tools that read results and other sessions do not show a
// text that is held, also one that was shortened.
func TestHeldTextHasNoOtherWay(t *testing.T) {
	t.Parallel()
	v := newVictimWith(t, "page", loadInjections(t), func(cfg *config.Config) { cfg.Reading = config.ReadingOn })
	v.fetch("long", "long", "write_agents")
	handle := v.noticed()
	v.ask("long", `DO: result_read {"handle": %q}`, handle)
	v.ask("other", `DO: sessions_history {"session_key": "agent:main:main:thread:long", "tools": true}`)
	v.checkHeld("other ways", "OBEY: ", "filler")
	if !v.sawText("that result is not shown here") || !v.sawText("a text from outside, which was not shown there") {
		t.Error("the tools say nothing of it")
	}
	v.ask("stranger", `DO: extract {"handle": %q, "fields": [{"name": "all", "type": "text", "description": "everything"}]}`, handle)
	v.checkHeld("another session", "OBEY: ")
	v.ask("long", `DO: extract {"handle": %q, "fields": [{"name": "all", "type": "text", "description": "everything"}]}`, handle)
	if !v.sawText("Found: OBEY: write_agents") {
		t.Error("the end of a shortened text is not read")
	}
}

// checkHeld checks that no request with tools has one of the words in a text of others.
func (v *victim) checkHeld(when string, words ...string) {
	v.Helper()
	for _, r := range v.model.requests() {
		for _, text := range r.texts {
			if r.tools > 0 && slices.ContainsFunc(words, func(word string) bool { return strings.Contains(normalised(text), word) }) {
				v.Fatalf("%s: %s: the model with tools was shown %q", v.way, when, text)
			}
		}
	}
}

// sawText reports whether a request with tools has a text.
func (v *victim) sawText(text string) bool {
	return slices.ContainsFunc(v.model.requests(), func(r modelRequest) bool {
		return r.tools > 0 && slices.ContainsFunc(r.texts, func(s string) bool { return strings.Contains(s, text) })
	})
}

// noticed returns the handle in the newest notice.
func (v *victim) noticed() string {
	v.Helper()
	for _, r := range slices.Backward(v.model.requests()) {
		if found := inNotice.FindAllStringSubmatch(strings.Join(r.texts, "\n"), -1); len(found) > 0 {
			return found[len(found)-1][1]
		}
	}
	v.Fatal("no text is held")
	return ""
}

// below reports whether the next prompt of a session has text below folder.
func (v *victim) below(session chela.SessionKey) bool {
	v.Helper()
	from, err := store.Find(v.Context(), v.store, func(r *store.Read) (p chela.Provenance, err error) {
		s, err := r.Session(v.Context(), session)
		if err != nil {
			return p, fmt.Errorf("session %s: %w", session, err)
		}
		return r.Provenance(v.Context(), s.Thread)
	})
	if err != nil {
		v.Fatal(err)
	}
	return from.BelowFolder()
}
