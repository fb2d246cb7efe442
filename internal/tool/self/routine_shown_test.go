package self_test

import (
	"encoding/json"
	"testing"

	"chela/internal/tool/tooltest"
)

// Whoever is asked about a routine sees all that the call sets.
func TestCallsAreShownWhole(t *testing.T) {
	t.Parallel()
	tools := (&fakeRoutines{}).tools()
	for _, name := range []string{"routine_create", "routine_update", "routine_delete", "routine_fire"} {
		tooltest.CheckShown(t, tools[name])
	}
	const want = "routine tea, every 1h: brew\ntrigger: every\nschedule: 1h\naction: notify\ndocuments: \n1. a.md\nonce: true"
	got := tools["routine_create"].Judge(json.RawMessage(
		`{"name":"tea","prompt":"brew","trigger":"every","schedule":"1h","action":"notify","documents":["a.md"],"once":true}`)).Preview
	if got != want {
		t.Errorf("shown as\n%s\nwant\n%s", got, want)
	}
}
