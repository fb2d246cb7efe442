package tomlfile_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"chela/internal/config/tomlfile"
)

func TestParse(t *testing.T) {
	t.Parallel()
	f, err := tomlfile.Parse("x.toml", []byte("# first\na = 1\n[b.\"c d\"]\ne = { f = [\"g\"] }\n[[h]]\ni = 1.5\n[[h]]\ni = true\n"))
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		Kind  tomlfile.NodeKind
		Path  string
		Value any
		Line  int
	}
	var got []seen
	for _, n := range f.Nodes {
		got = append(got, seen{n.Kind, tomlfile.Join(n.Path), n.Value, n.Line})
	}
	want := []seen{
		{tomlfile.Pair, "a", int64(1), 2},
		{tomlfile.Header, `b."c d"`, nil, 3},
		{tomlfile.Inline, `b."c d".e`, nil, 4},
		{tomlfile.Pair, `b."c d".e.f`, []any{"g"}, 4},
		{tomlfile.Header, "h[1]", nil, 5},
		{tomlfile.Pair, "h[1].i", tomlfile.Decimal("1.5"), 6},
		{tomlfile.Header, "h[2]", nil, 7},
		{tomlfile.Pair, "h[2].i", true, 8},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	if p := tomlfile.Place(3); !tomlfile.IsPlace(p) || tomlfile.NthOf(p) != 3 {
		t.Errorf("place %q is the %d.", p, tomlfile.NthOf(p))
	}
	if tomlfile.IsPlace("3") || tomlfile.NthOf("3") != 0 {
		t.Error("a key is taken for a place")
	}
}

// FuzzWith changes any value of any file and parses what comes of it: where it
// is TOML, the value is there. TOML holds valid UTF-8 alone.
func FuzzWith(f *testing.F) {
	f.Add("a = 1\n", "a", "2")
	f.Add("b = { c = 1 }\n[d]\n", "b.e", "x\n\"")
	f.Add("[[h]]\n[d] # x", "d.e", "é")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		file, err := tomlfile.Parse("", []byte(text))
		path, ok := tomlfile.ParseKey(key)
		if err != nil || !ok || !utf8.ValidString(value) {
			return
		}
		after, err := tomlfile.Parse("", file.With(path, value))
		if err != nil {
			return // a part of the key is a value there
		}
		for _, n := range after.Nodes {
			if n.Kind == tomlfile.Pair && tomlfile.Join(n.Path) == tomlfile.Join(path) && n.Value == any(value) {
				return
			}
		}
		t.Errorf("%q with %s = %q came to %q", text, key, value, file.With(path, value))
	})
}
