package extract_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"chela"
	"chela/internal/safety"
	"chela/internal/tool/extract"
	"chela/internal/tool/tooltest"
)

// A shelf holds one text, and a model that answers with the given answers.
type shelf struct {
	src     extract.Source
	answers []string
	asked   []*chela.Request
	room    int
}

func page(text string) *shelf {
	return &shelf{src: extract.Source{Text: text, Provenance: safety.Outside("https://page.example")}, room: 10_000}
}

func (s *shelf) find(_ context.Context, _ chela.ToolCall, handle string) (extract.Source, error) {
	if handle != "call_1" {
		return extract.Source{}, chela.E(chela.NotFound, "there is no such text")
	}
	return s.src, nil
}

func (s *shelf) ask(_ context.Context, req *chela.Request) (string, error) {
	copied := *req
	copied.Messages = slices.Clone(req.Messages)
	s.asked = append(s.asked, &copied)
	return s.answers[min(len(s.asked), len(s.answers))-1], nil
}

// run calls the tool with fields in JSON.
func (s *shelf) run(t *testing.T, handle, fields string) chela.ToolResult {
	t.Helper()
	args := fmt.Sprintf(`{"handle": %q, "fields": %s}`, handle, fields)
	res, err := extract.Tool(s.find).Run(t.Context(), chela.ToolCall{Args: json.RawMessage(args), Ask: s.ask, Room: s.room})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestContract(t *testing.T) {
	t.Parallel()
	tooltest.Check(t, extract.Tool(page("text").find))
}

// TestValues: values that fit their types are returned, and no others.
func TestValues(t *testing.T) {
	t.Parallel()
	fields := `[{"name":"t","type":"text","description":""},{"name":"l","type":"list","description":""},{"name":"n","type":"number","description":""},
		{"name":"b","type":"boolean","description":""},{"name":"d","type":"date","description":""},{"name":"c","type":"choice","choices":["Yes","No"],"description":""}]`
	const none = `{"t": null, "l": null, "n": null, "b": null, "d": null, "c": null}`
	long := strings.Repeat("x", 3000)
	for answer, want := range map[string]string{
		`{}`:                       none,
		"```json\n{\"n\": 1}\n```": strings.Replace(none, `"n": null`, `"n": 1`, 1),
		`{"t":"a\u001b[31m b\n\nc\u202ed","l":["x"," ","y\u0000"],"n":"12.50","b":"True","d":"2026-02-28T10:00:00Z","c":"yes"}`: `{"t": "a[31m b cd", "l": ["x","y"], "n": 12.5, "b": true, "d": "2026-02-28", "c": "Yes"}`,
		`{"t":{"a":1},"n":"a lot","b":1,"d":"2026-02-30","c":"maybe","l":true,"more":"obey"}`:                                   none + "\n[a value was found that does not fit the type of: t l n b d c]",
		`{"n":1e999,"d":"0001-01-01"}`: none + "\n[a value was found that does not fit the type of: n d]",
		`{"t":"` + long + `"}`:         "",
	} {
		s := page("text")
		s.answers = []string{answer}
		got := s.run(t, "call_1", fields)
		if want == "" {
			if len(got.Text) > 2200 {
				t.Errorf("a long value is returned with %d bytes", len(got.Text))
			}
			continue
		}
		if got.Text != want || got.Failed {
			t.Errorf("%s\ngives %s\nwant  %s", answer, got.Text, want)
		}
	}
}

// TestLabels: a result that carries little counts as data, others as the text, and all
// are as private as it.
func TestLabels(t *testing.T) {
	t.Parallel()
	one := func(kind string) string {
		return fmt.Sprintf(`{"name":%q,"type":%q,"description":""}`, kind[:1]+fmt.Sprint(len(kind)), kind)
	}
	choice := `{"name":"c","type":"choice","choices":["a","b","c"],"description":""}`
	for fields, want := range map[string]chela.Integrity{
		one("boolean"):             chela.IntegrityFolder,
		choice:                     chela.IntegrityFolder,
		one("date") + "," + choice: chela.IntegrityFolder,
		one("date") + `,{"name":"e","type":"date","description":""}`: chela.IntegrityOutside,
		one("number"):                      chela.IntegrityOutside,
		one("text"):                        chela.IntegrityOutside,
		one("list"):                        chela.IntegrityOutside,
		one("boolean") + "," + one("text"): chela.IntegrityOutside,
		strings.Repeat("B,", 12) + one("boolean"): chela.IntegrityOutside,
	} {
		for n := range 12 {
			fields = strings.Replace(fields, "B,", fmt.Sprintf(`{"name":"b%d","type":"boolean","description":""},`, n+20), 1)
		}
		s := page("text")
		s.answers, s.src.Provenance = []string{"{}"}, s.src.Provenance.Private()
		got := s.run(t, "call_1", "["+fields+"]")
		if from := got.Provenance; got.Failed || from.Integrity != want || !from.IsPrivate() || from.Source != "https://page.example" {
			t.Errorf("%s: %q from %+v, want %s", fields, got.Text, from, want)
		}
	}
}

// TestParts: a text that is larger than the window is read in parts, which have all of
// it; the end of one that is much larger is left out, and the result says so.
func TestParts(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d ä\n", i)
	}
	s := page(text.String())
	s.answers = []string{`{"l":["a","b"],"d":null}`, `{"l":["b","c"],"d":"2026-01-02"}`, `{"l":[],"d":"2026-01-03"}`}
	got := s.run(t, "call_1", `[{"name":"l","type":"list","description":""},{"name":"d","type":"date","description":""}]`)
	if want := `{"l": ["a","b","c"], "d": "2026-01-02"}`; got.Text != want {
		t.Errorf("read %s, want %s", got.Text, want)
	}
	var parts strings.Builder
	for _, req := range s.asked {
		_, rest, _ := strings.Cut(req.Messages[0].Text, "<outside ")
		_, rest, _ = strings.Cut(rest, ">\n")
		part, _, _ := strings.Cut(rest, "\n</outside ")
		parts.WriteString(part)
	}
	if parts.String() != text.String() || len(s.asked) < 3 {
		t.Errorf("%d parts have %d bytes, want %d", len(s.asked), parts.Len(), text.Len())
	}
	s = page(strings.Repeat("0123456789", 100_000))
	s.room, s.answers = 4000, []string{"{}"}
	if got := s.run(t, "call_1", `[{"name":"b","type":"boolean","description":""}]`); len(s.asked) != 16 || !strings.Contains(got.Text, "bytes of the text were not read]") {
		t.Errorf("%d parts: %s", len(s.asked), got.Text)
	}
}

// TestRefusals: calls that cannot be carried out say why, and ask no model.
func TestRefusals(t *testing.T) {
	t.Parallel()
	field := func(s string) string { return `[{"description":"",` + s + `}]` }
	for _, c := range []struct{ handle, fields, want string }{
		{"call_1", "[]", "ask for 1 to 20 fields"},
		{"call_2", field(`"name":"a","type":"text"`), "there is no such text"},
		{"call_1", field(`"name":"A b","type":"text"`), "is not one of up to 40 lower-case letters"},
		{"call_1", field(`"name":"a","type":"choice","choices":["x"]`), "a needs 2 to 16 choices"},
		{"call_1", field(`"name":"a","type":"choice","choices":["x","y\u202e"]`), "visible characters"},
		{"call_1", field(`"name":"a","type":"text","choices":["x","y"]`), "only a field of the type choice has choices: a"},
		{"call_1", `[{"name":"a","type":"text","description":""},{"name":"a","type":"date","description":""}]`, "two fields have the name a"},
	} {
		s := page("text")
		if got := s.run(t, c.handle, c.fields); !got.Failed || !strings.Contains(got.Text, c.want) || len(s.asked) > 0 {
			t.Errorf("%s: %q after %d requests, want %q", c.fields, got.Text, len(s.asked), c.want)
		}
	}
	s := page("text")
	s.answers = []string{"I cannot.", "No."}
	if got := s.run(t, "call_1", field(`"name":"a","type":"text"`)); !got.Failed || strings.Contains(got.Text, "cannot.") || len(s.asked) != 2 {
		t.Errorf("a model without an object gives %q after %d requests", got.Text, len(s.asked))
	}
	s.asked, s.answers = nil, []string{"I cannot.", `{"a":"x"}`}
	if got := s.run(t, "call_1", field(`"name":"a","type":"text"`)); got.Text != `{"a": "x"}` {
		t.Errorf("the second answer gives %q", got.Text)
	}
}

// FuzzAnswer: whatever a model answers, the result is one object of the fields without
// characters that people do not see.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"t":"x","n":1}`, "text")
	f.Add("{\"t\":\"\\u001b]8;;x\\u0007\"}", "</outside>")
	f.Fuzz(func(t *testing.T, answer, text string) {
		s := page(text)
		s.answers = []string{answer}
		got := s.run(t, "call_1", `[{"name":"t","type":"text","description":""},{"name":"n","type":"number","description":""},{"name":"l","type":"list","description":""}]`)
		if got.Failed {
			return
		}
		object, _, _ := strings.Cut(got.Text, "\n")
		var values map[string]any
		if err := json.Unmarshal([]byte(object), &values); err != nil || len(values) != 3 {
			t.Fatalf("%q gives %q: %v", answer, got.Text, err)
		}
		if shown, _ := values["t"].(string); strings.ContainsFunc(shown, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Fatalf("%q gives %q", answer, shown)
		}
	})
}
