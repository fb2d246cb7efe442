package queue_test

import (
	"encoding/json"
	"strings"
	"testing"

	"chela"
	"chela/internal/engine/queue"
)

// message is something that the owner said.
func message(text string) chela.Inbound {
	return chela.Inbound{
		Session: "agent:main:main", Agent: "main", Origin: chela.Origin{Channel: "test", Owner: true}, MessageID: "m1", Text: text,
	}
}

func TestBroughtThatIsRefused(t *testing.T) {
	t.Parallel()
	tool := func(name, schema string) []chela.ToolSpec {
		return []chela.ToolSpec{{Name: name, Input: json.RawMessage(schema)}}
	}
	half := strings.Repeat("x", queue.MaxBroughtBytes/2)
	for name, c := range map[string]struct {
		in   chela.Inbound
		fits bool
	}{
		"everything":         {chela.Inbound{History: []chela.Message{{Role: chela.RoleUser, Text: "a"}}, Offers: tool("a-B_9", `{}`)}, true},
		"name at its bounds": {chela.Inbound{Offers: tool("azAZ09_-", "")}, true},
		"tool without input": {chela.Inbound{Offers: tool("a", "")}, true},
		"as large as may be": {chela.Inbound{History: []chela.Message{{Role: chela.RoleUser, Text: half}, {Role: chela.RoleUser, Text: half}}}, true},
		"too large together": {chela.Inbound{
			History: []chela.Message{{Role: chela.RoleUser, Text: half}}, Results: []chela.OfferResult{{Call: "c", Text: half + "x"}},
		}, false},
		"history of a tool":    {chela.Inbound{History: []chela.Message{{Role: chela.RoleTool, Text: "a"}}}, false},
		"history with calls":   {chela.Inbound{History: []chela.Message{{Role: chela.RoleAssistant, Text: "a", Calls: []chela.CallSpec{{}}}}}, false},
		"history of nothing":   {chela.Inbound{History: []chela.Message{{Role: chela.RoleUser}}}, false},
		"history that is odd":  {chela.Inbound{History: []chela.Message{{Role: chela.RoleUser, Text: "\xff"}}}, false},
		"tool without a name":  {chela.Inbound{Offers: tool("", "")}, false},
		"tool with a space":    {chela.Inbound{Offers: tool("a b", "")}, false},
		"tool with a slash":    {chela.Inbound{Offers: tool("a/b", "")}, false},
		"tool with a long one": {chela.Inbound{Offers: tool(strings.Repeat("a", 65), "")}, false},
		"schema of a list":     {chela.Inbound{Offers: tool("a", `[]`)}, false},
		"schema of nothing":    {chela.Inbound{Offers: tool("a", `null`)}, false},
		"schema cut off":       {chela.Inbound{Offers: tool("a", `{"a":`)}, false},
		"tool offered twice":   {chela.Inbound{Offers: append(tool("a", ""), tool("a", "")...)}, false},
		"too many tools":       {chela.Inbound{Offers: make([]chela.ToolSpec, 129)}, false},
		"too many results":     {chela.Inbound{Results: make([]chela.OfferResult, 65)}, false},
		"two results of one":   {chela.Inbound{Results: []chela.OfferResult{{Call: "c"}, {Call: "c"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := message("hi")
			in.History, in.Offers, in.Results = c.in.History, c.in.Offers, c.in.Results
			err := queue.CheckInbound(in)
			if want := map[bool]chela.Kind{true: "", false: chela.Invalid}[c.fits]; chela.KindOf(err) != want {
				t.Errorf("error %v, want kind %q", err, want)
			}
		})
	}
}
