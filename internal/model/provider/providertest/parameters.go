package providertest

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider"
)

// A Parameterized is a request with parameters, and the JSON that they add to the
// body that is sent.
type Parameterized struct {
	Tools    bool // the request offers the tool f
	Sampling chela.Sampling
	Want     string // members that the body of the same request without parameters lacks
}

// CheckParameters compares the wire form of parameters with the expected one, and
// fails the test if the cases do not cover exactly the known parameters. Send
// performs a request and returns the body that was sent.
func CheckParameters(t *testing.T, known []provider.Parameter, cases []Parameterized, send func(t *testing.T, req chela.Request) string) {
	t.Helper()
	var covered []provider.Parameter
	for _, c := range cases {
		req := chela.Request{Messages: []chela.Message{{Role: chela.RoleUser, Text: "x"}}}
		if c.Tools {
			req.Tools = []chela.ToolSpec{{Name: "f", Input: json.RawMessage(`{"type":"object"}`)}}
		}
		without := object(t, send(t, req))
		req.Sampling = &c.Sampling
		got := added(without, object(t, send(t, req)))
		if diff := cmp.Diff(object(t, c.Want), got); diff != "" {
			t.Errorf("%s: added to the body (-want +got):\n%s", c.Want, diff)
		}
		covered = append(covered, provider.ParametersOf(&c.Sampling, c.Tools)...)
	}
	slices.Sort(covered)
	known = slices.Sorted(slices.Values(known))
	if diff := cmp.Diff(known, slices.Compact(covered)); diff != "" {
		t.Errorf("covered parameters (-known +covered):\n%s", diff)
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return o
}

// added returns the members of with that differ in without.
func added(without, with map[string]any) map[string]any {
	more := map[string]any{}
	for name, value := range with {
		before, was := without[name]
		inner, isObject := value.(map[string]any)
		outer, wasObject := before.(map[string]any)
		switch {
		case isObject && wasObject:
			if changed := added(outer, inner); len(changed) > 0 {
				more[name] = changed
			}
		case !was || !reflect.DeepEqual(before, value):
			more[name] = value
		}
	}
	return more
}
