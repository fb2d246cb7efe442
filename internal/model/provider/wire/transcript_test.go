package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/wire"
)

func fits(ref string) bool { return ref != "" && !strings.ContainsAny(ref, " :!|") }

func said(text string, calls ...chela.CallSpec) chela.Message {
	return chela.Message{Role: chela.RoleAssistant, Text: text, Calls: calls}
}

func call(id chela.CallID, ref, args string) chela.CallSpec {
	return chela.CallSpec{ID: id, Ref: ref, Tool: "t", Args: json.RawMessage(args)}
}

func result(id chela.CallID, ref, text string) chela.Message {
	return chela.Message{Role: chela.RoleTool, Call: id, Ref: ref, Tool: "t", Text: text}
}

func user(text string) chela.Message { return chela.Message{Role: chela.RoleUser, Text: text} }

func TestWhole(t *testing.T) {
	t.Parallel()
	open := chela.Message{Role: chela.RoleTool, Call: "call_a", Ref: "a", Tool: "t", Text: wire.Unanswered, Failed: true}
	tests := []struct {
		name     string
		in, want []chela.Message
	}{
		{"nothing", nil, nil},
		{
			"whole already",
			[]chela.Message{user("q"), said("s", call("call_a", "a", `{}`)), result("call_a", "a", "r"), said("end")},
			[]chela.Message{user("q"), said("s", call("call_a", "a", `{}`)), result("call_a", "a", "r"), said("end")},
		},
		{
			"blank messages",
			[]chela.Message{user(" \n"), said(""), user("q\xff")},
			[]chela.Message{user("q\uFFFD")},
		},
		{
			"not answered",
			[]chela.Message{said("", call("call_a", "a", `{}`)), user("q"), said("end")},
			[]chela.Message{said("", call("call_a", "a", `{}`)), open, user("q"), said("end")},
		},
		{
			"answered late and out of order",
			[]chela.Message{said("", call("call_a", "a", `{}`), call("call_b", "b", `{}`)), result("call_b", "b", "2"), user("q"), result("call_a", "a", "1")},
			[]chela.Message{said("", call("call_a", "a", `{}`), call("call_b", "b", `{}`)), result("call_a", "a", "1"), result("call_b", "b", "2"), user("q")},
		},
		{
			"result without a call",
			[]chela.Message{result("call_x", "x", "r"), user("q"), said("s"), result("call_x", "x", "r")},
			[]chela.Message{user("q"), said("s")},
		},
		{
			"known by ref",
			[]chela.Message{said("", call("", "a", `{}`)), result("call_a", "a", "r")},
			[]chela.Message{said("", call("", "a", `{}`)), result("call_a", "a", "r")},
		},
		{
			"equal refs in two steps",
			[]chela.Message{said("", call("call_a", "0", `{}`)), result("call_a", "0", "1"), said("", call("call_b", "0", `{}`)), result("call_b", "0", "2")},
			[]chela.Message{said("", call("call_a", "0", `{}`)), result("call_a", "0", "1"), said("", call("call_b", "call_b", `{}`)), result("call_b", "call_b", "2")},
		},
		{
			"refs that do not fit",
			[]chela.Message{said("", call("call_a", "x:1|y", `{}`), call("call_b", "", `{}`), call("", "z z", `{}`)), result("call_a", "x:1|y", "1"), result("call_b", "", "2")},
			[]chela.Message{
				said("", call("call_a", "x_1_y", `{}`), call("call_b", "call_b", `{}`), call("", "z_z", `{}`)), result("call_a", "x_1_y", "1"), result("call_b", "call_b", "2"),
				{Role: chela.RoleTool, Ref: "z_z", Tool: "t", Text: wire.Unanswered, Failed: true},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, wire.Whole(tt.in, fits)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWholeArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		call chela.CallSpec
		tool string
		args string
	}{
		{"object", chela.CallSpec{Tool: "file_read", Args: json.RawMessage(` {"a":1} `)}, "file_read", `{"a":1}`},
		{"none", chela.CallSpec{Tool: "t"}, "t", `{}`},
		{"list", chela.CallSpec{Tool: "t", Args: json.RawMessage(`[1]`)}, "t", `{"unparsed_arguments":"[1]"}`},
		{"broken", chela.CallSpec{Tool: "t", Raw: `{"a": "`}, "t", `{"unparsed_arguments":"{\"a\": \""}`},
		{"bytes that are no text", chela.CallSpec{Tool: "t", Args: json.RawMessage("{\"a\":\"\xff\"}")}, "t", "{\"a\":\"\uFFFD\"}"},
		{"name", chela.CallSpec{Tool: "functions.ü/x"}, "functions___x", `{}`},
		{"long name", chela.CallSpec{Tool: strings.Repeat("n", 70)}, strings.Repeat("n", 64), `{}`},
		{"no name", chela.CallSpec{}, "unnamed", `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := wire.Whole([]chela.Message{said("", tt.call)}, fits)[0].Calls[0]
			if got.Tool != tt.tool || string(got.Args) != tt.args || got.Raw != "" {
				t.Errorf("got  %s(%s), raw %q\nwant %s(%s)", got.Tool, got.Args, got.Raw, tt.tool, tt.args)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	got := wire.Calls([]chela.CallSpec{
		wire.Call("", "a", ""), wire.Call("x", "b", " null "), wire.Call("x", "c", `{"k":`), wire.Call("call_0", "d", "\n[1]\n"),
	})
	want := []chela.CallSpec{
		{Ref: "call_0", Tool: "a", Args: json.RawMessage(`{}`)},
		{Ref: "x", Tool: "b", Args: json.RawMessage(`{}`)},
		{Ref: "call_2", Tool: "c", Raw: `{"k":`},
		{Ref: "call_3", Tool: "d", Args: json.RawMessage(`[1]`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
