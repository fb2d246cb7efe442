package lane

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"chela"
)

// message is something that the owner said.
func message(text string) chela.Inbound {
	return chela.Inbound{
		Session: "agent:main:main", Agent: "main", Origin: chela.Origin{Channel: "test", Owner: true}, MessageID: "m1", Text: text,
	}
}

// named returns n tools.
func named(n int) (tools []chela.ToolSpec) {
	for i := range n {
		tools = append(tools, chela.ToolSpec{Name: fmt.Sprintf("t%d", i)})
	}
	return tools
}

// answers returns the results of n calls.
func answers(n int) (results []chela.OfferResult) {
	for i := range n {
		results = append(results, chela.OfferResult{Call: chela.CallID(fmt.Sprintf("c%d", i))})
	}
	return results
}

// TestMessagesThatAreRefused changes one thing of a message that is accepted.
func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(in *chela.Inbound)
		want   chela.Kind
	}{
		"as it is":               {func(*chela.Inbound) {}, ""},
		"longest text":           {func(in *chela.Inbound) { in.Text = strings.Repeat("x", chela.MaxMessageBytes) }, ""},
		"too long a text":        {func(in *chela.Inbound) { in.Text = strings.Repeat("x", chela.MaxMessageBytes+1) }, chela.Invalid},
		"text that is odd":       {func(in *chela.Inbound) { in.Text = "\xff" }, chela.Invalid},
		"text with a NUL":        {func(in *chela.Inbound) { in.Text = "a\x00" }, chela.Invalid},
		"no text":                {func(in *chela.Inbound) { in.Text = " \n" }, chela.Invalid},
		"an attachment alone":    {func(in *chela.Inbound) { in.Text, in.Attachments = "", []chela.Attachment{{Name: "a"}} }, ""},
		"a command alone":        {func(in *chela.Inbound) { in.Text, in.Command = "", "compact" }, ""},
		"a result alone":         {func(in *chela.Inbound) { in.Text, in.Results = "", answers(1) }, ""},
		"two results":            {func(in *chela.Inbound) { in.Results = answers(2) }, ""},
		"without a channel":      {func(in *chela.Inbound) { in.Origin.Channel = "" }, chela.Internal},
		"without an id":          {func(in *chela.Inbound) { in.MessageID = "" }, chela.Internal},
		"without an agent":       {func(in *chela.Inbound) { in.Agent = "" }, chela.Internal},
		"of another agent":       {func(in *chela.Inbound) { in.Agent = "other" }, chela.Invalid},
		"in a shared session":    {func(in *chela.Inbound) { in.Session, in.Agent = "cron:rtn_1", "other" }, ""},
		"without a session":      {func(in *chela.Inbound) { in.Session = "" }, chela.Invalid},
		"never dropped":          {func(in *chela.Inbound) { in.Queue.Drop = chela.DropNever }, ""},
		"dropped when it is old": {func(in *chela.Inbound) { in.Queue.Drop = chela.DropOld }, ""},
		"an unknown drop":        {func(in *chela.Inbound) { in.Queue.Drop = "some" }, chela.Invalid},
		"an unknown mode":        {func(in *chela.Inbound) { in.Queue.Mode = "some" }, chela.Invalid},
	} {
		in := message("hi")
		c.change(&in)
		if err := CheckInbound(in); chela.KindOf(err) != c.want {
			t.Errorf("%s: error %v, want kind %q", name, err, c.want)
		}
	}
}

func TestBroughtThatIsRefused(t *testing.T) {
	t.Parallel()
	tool := func(name, schema string) []chela.ToolSpec {
		return []chela.ToolSpec{{Name: name, Input: json.RawMessage(schema)}}
	}
	half := strings.Repeat("x", MaxBroughtBytes/2)
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
		"most tools":           {chela.Inbound{Offers: named(128)}, true},
		"longest name":         {chela.Inbound{Offers: tool(strings.Repeat("a", 64), "")}, true},
		"most results":         {chela.Inbound{Results: answers(64)}, true},
		"schema of a letter":   {chela.Inbound{Offers: tool("a", `x`)}, false},
		"tool that is odd":     {chela.Inbound{Offers: []chela.ToolSpec{{Name: "a", Description: "\xff"}}}, false},
		"too large a tool":     {chela.Inbound{Offers: []chela.ToolSpec{{Name: "a", Description: half + half}}}, false},
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
		"too many tools":       {chela.Inbound{Offers: named(129)}, false},
		"too many results":     {chela.Inbound{Results: answers(65)}, false},
		"two results of one":   {chela.Inbound{Results: []chela.OfferResult{{Call: "c"}, {Call: "c"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := message("hi")
			in.History, in.Offers, in.Results = c.in.History, c.in.Offers, c.in.Results
			err := CheckInbound(in)
			if want := map[bool]chela.Kind{true: "", false: chela.Invalid}[c.fits]; chela.KindOf(err) != want {
				t.Errorf("error %v, want kind %q", err, want)
			}
		})
	}
}

// numbers is a text of n bytes that does not repeat itself.
func numbers(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String()[:n-1] + "."
}

// TestTextsThatAreRefused have control characters or repeat themselves; the error says
// how to send them.
func TestTextsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"longest":    {numbers(chela.MaxMessageBytes), ""},
		"shorter":    {strings.Repeat("x", 60_000), ""},
		"whitespace": {"a\r\n\tb\u0085", ""},
		"one letter": {"Look: " + strings.Repeat("x", 90_000) + " why?", "the message repeats the same 1 bytes 87963 times"},
		"one line":   {strings.Repeat("all work and no play\n", 4500), "the message repeats the same 21 bytes 4402 times"},
		"colours":    {"\x1b[31mred", "the message has the control character U+001B at byte 0"},
		"bell":       {"a\a", "the message has the control character U+0007 at byte 1"},
		"long unit":  {strings.Repeat(numbers(1000), 90), ""},
		"empty":      {"", ""},
	} {
		err := CheckText(c.text)
		if got := chela.MessageOf(err); err != nil && !strings.HasPrefix(got, c.want+"; ") || err == nil && c.want != "" {
			t.Errorf("%s: error %q, want %q", name, got, c.want)
		}
		if err != nil && (chela.KindOf(err) != chela.Invalid || chela.HintOf(err) == "") {
			t.Errorf("%s: %v has no cure", name, err)
		}
	}
}

func BenchmarkCheckText(b *testing.B) {
	text := numbers(chela.MaxMessageBytes)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := CheckText(text); err != nil {
			b.Fatal(err)
		}
	}
}
