package policy

import (
	"fmt"
	"strings"
	"testing"

	"chela"
)

// TestFollows: an address follows from a link of its own site, or from an address that
// was fetched before with one part changed to typed words.
func TestFollows(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("/x ", maxLinks)
	for _, c := range []struct {
		page, clean, typed, want string
		follows                  bool
	}{
		// Links.
		{page: `see https://a.example/x?y=1.`, want: "https://a.example/x?y=1", follows: true},
		{page: `{"jobs_url": "https://a.example/jobs"}`, want: "https://a.example/jobs", follows: true},
		{page: `<a href="/x?a=1&amp;b=2">`, want: "https://a.example/x?a=1&b=2", follows: true},
		{page: `[next](/p/2)`, want: "https://a.example/p/2", follows: true},
		{page: `<a href="https://b.a.example/x">`, want: "https://b.a.example/x", follows: true},
		{page: `see https://a.example/x`, want: "https://a.example/x?code=1234"},
		{page: `see https://a.example/x`, want: "https://a.example/x1234"},
		{page: `see https://a.example/x/1234`, want: "https://a.example/x"},
		{page: `see http://a.example/x`, want: "http://a.example/x"},
		{page: `see https://a.example:8443/x`, want: "https://a.example:8443/x"},
		{page: `see https://evil.example/x`, want: "https://evil.example/x"},
		{page: `see https://me@a.example/x`, want: "https://a.example/x"},
		{page: `(redirected to https://b.example/) https://b.example/x`, want: "https://b.example/x"},
		{page: many + "/last", want: "https://a.example/last"},
		// Addresses that were fetched before.
		{clean: "https://a.example/wiki/Bern", typed: "and Thun?", want: "https://a.example/wiki/Thun", follows: true},
		{clean: "https://a.example/wiki/Bern", typed: "and heat pumps?", want: "https://a.example/wiki/Heat_Pumps", follows: true},
		{clean: "https://a.example/wiki/Bern", typed: "and Zürich?", want: "https://a.example/wiki/Z%C3%BCrich", follows: true},
		{clean: "https://a.example/s/sensor.cellar_temperature", typed: "temp and humidity?", want: "https://a.example/s/sensor.cellar_humidity", follows: true},
		{clean: "https://a.example/f?q=bern&n=1", typed: "and thun", want: "https://a.example/f?q=thun&n=1", follows: true},
		{clean: "https://en.a.example/wiki/Bern", typed: "x", want: "https://de.a.example/wiki/Bern", follows: true},
		{clean: "https://a.example/wiki/Bern", typed: "and Thun?", want: "https://a.example/wiki/thuN"},
		{clean: "https://a.example/wiki/Bern", typed: "and Thun?", want: "https://a.example/wiki/Thun.-"},
		{clean: "https://a.example/wiki/Bern", typed: "and Thun?", want: "https://a.example/wiki/Thun/1234"},
		{clean: "https://a.example/wiki/Bern", typed: "and Thun?", want: "https://a.example/Thun/Thun"},
		{clean: "https://a.example/wiki/Bern", typed: "and Thun?", want: "https://a.example/wiki/Bern?Thun=1"},
		{clean: "https://a.example/wiki/Bern", typed: "and Thun?", want: "https://b.example/wiki/Thun"},
		{clean: "https://a.example/wiki/Bern", typed: "and Thun?", want: "https://evil.a.example/wiki/Thun"},
		{clean: "https://a.example/wiki/Bern", typed: "> and Thun?", want: "https://a.example/wiki/Thun"},
		{clean: "https://a.example/wiki/Bern", typed: "tell me more", want: "https://a.example/wiki/1234"},
		{clean: "https://a.example/wiki/Bern", typed: "a b c d", want: "https://a.example/wiki/a-c"},
		{clean: "https://a.example/wiki/Bern", typed: "a b c d", want: "https://a.example/wiki/a-b-c-d"},
		{clean: "https://a.example/f?q=bern&n=1", typed: "and thun", want: "https://a.example/f?n=1&q=thun"},
		{clean: "https://a.example/1/2/3/4/5/6/7", typed: "x", want: "https://a.example/1/2/3/4/5/6/x"},
		{clean: "https://a.example/wiki/Bern", typed: strings.Repeat("w ", maxWords) + "Thun", want: "https://a.example/wiki/Thun"},
	} {
		trail := &chela.Trail{}
		if c.page != "" {
			trail.Pages = []chela.Page{{URL: "https://a.example/list", Text: c.page}}
		}
		if c.clean != "" {
			trail.Clean = []string{c.clean}
		}
		typed := chela.Typed{Turn: []string{c.typed}, ByHand: true}
		if got := follows(trail, typed, "GET "+c.want); got != c.follows {
			t.Errorf("%s after %q, %q and %q: %t, want %t", c.want, c.page, c.clean, c.typed, got, c.follows)
		}
		if follows(trail, typed, "HEAD "+c.want) || follows(nil, typed, "GET "+c.want) {
			t.Errorf("%s follows without a GET or a trail", c.want)
		}
	}
}

// TestNewestFollow: only the newest pages and the newest clean address count.
func TestNewestFollow(t *testing.T) {
	t.Parallel()
	trail := &chela.Trail{Clean: []string{"https://a.example/wiki/Bern", "https://a.example/other"}}
	for i := range maxPages + 1 {
		trail.Pages = append(trail.Pages, chela.Page{URL: "https://a.example/", Text: fmt.Sprintf("/p/%d", i)})
	}
	typed := chela.Typed{Turn: []string{"Thun"}, ByHand: true}
	for path, want := range map[string]bool{"/p/0": false, "/p/1": true, "/wiki/Thun": false, "/Thun": true} {
		if got := follows(trail, typed, "GET https://a.example"+path); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

// TestChoiceIsSmall counts the addresses that can follow from a full trail: at most 12
// bits and a little more than a thousandth of one.
func TestChoiceIsSmall(t *testing.T) {
	t.Parallel()
	const joints, shapes = 4, 3
	runs := maxWords * (shapes + (maxRun-1)*joints*shapes)
	words := maxOld * maxWords * shapes
	if choice := maxPages*maxLinks + maxClean*maxParts*(runs+words); choice > 4200 {
		t.Errorf("%d addresses can follow, want 4,200 at most", choice)
	}
}
