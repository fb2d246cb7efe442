package gateway

import (
	"net/url"
	"testing"

	"chela"
)

// FuzzFilter takes any query for a filter of events: what is accepted names what
// there can be.
func FuzzFilter(f *testing.F) {
	for _, seed := range []struct{ query, last string }{
		{"", ""},
		{"session=agent:main:main&thread=thr_x&kinds=turn.started,turn.finished&after=1.2.3", ""},
		{"kinds=,", "1.2.3"},
		{"session=agent%3Amain%3Adm%3Aa%252Fb", ""},
		{"kinds=text.delta,text.delta", "x\ny"},
		{"thread=%ff", ""},
		{"after=%00", "-1"},
	} {
		f.Add(seed.query, seed.last)
	}
	f.Fuzz(func(t *testing.T, raw, last string) {
		query, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		filter := filterOf(query, last)
		if err := checkFilter(filter); err != nil {
			if chela.KindOf(err) != chela.Invalid {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if last != "" && string(filter.After) != last {
			t.Fatalf("Last-Event-ID %q is not what counts: %+v", last, filter)
		}
		if len(filter.After) > maxCursor || len(filter.Thread) > maxCursor {
			t.Fatalf("%q is too long", filter)
		}
		if _, err := chela.ParseSessionKey(filter.Session); filter.Session != "" && err != nil {
			t.Fatal(err)
		}
	})
}
