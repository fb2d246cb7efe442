package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/platform/lazyregexp"
	"chela/internal/surface/gateway/edge"
)

// A Request is what both forms ask for.
type Request struct {
	Model    string
	Said     []Item
	Offers   []chela.ToolSpec // tools that the client runs itself
	Previous string           // id of the response that this one goes on from
	Streamed bool
	CacheKey string // names a prompt that other requests begin with, for a provider's cache

	// Conversation names a session: a key, or a word.
	Conversation string

	MaxTokens int // of one answer of the model; 0 for no limit
	Effort    chela.ThinkingLevel
	ForModel  []string // names the field of the effort, if it is set: an agent has its own
	Ignored   []string // fields without effect

	Sampling chela.Sampling

	fields map[provider.Parameter]string // that set the parameters of the sampling
	format format
}

// Item is one thing that was said.
type Item struct {
	Role  chela.Role
	Text  string
	Files []File
	Calls []chela.CallSpec // of the assistant; Ref is the id that the client knows
	Ref   string           // of a result: the call it answers
	Param string           // where it is in the request
}

// RoleSystem is the role of the developer of the client, beside those of a prompt.
const RoleSystem chela.Role = "system"

// Fresh returns where the new part of a conversation begins: after the last
// message of the assistant.
func (q *Request) Fresh() int {
	for i, s := range slices.Backward(q.Said) {
		if s.Role == chela.RoleAssistant {
			return i + 1
		}
	}
	return 0
}

// form is a request body, in either wire form.
type form interface {
	// request validates and decodes the body.
	request(created int64) (*Request, error)
}

// Chat decodes a request for a chat completion. Unknown fields are in Ignored.
// A malformed body is an Invalid error that names the field.
func Chat(r *http.Request, now time.Time) (*Request, error) { return parse(r, now, &chatRequest{}) }

// Responses reads a request for a response, as [Chat] does.
func Responses(r *http.Request, now time.Time) (*Request, error) {
	return parse(r, now, &responsesRequest{})
}

// parse reads and decodes a body.
func parse(r *http.Request, now time.Time, f form) (*Request, error) {
	ignored, err := read(r, f)
	if err != nil {
		return nil, err
	}
	q, err := f.request(now.Unix())
	if err != nil {
		return nil, err
	}
	q.Ignored = ignored
	return q, nil
}

// firstRoom is the memory for a body before any of it has arrived, in bytes.
const firstRoom = 64 << 10

// read reads the body of a request into a struct, and returns its unknown fields. A
// malformed body is an Invalid error.
func read(r *http.Request, into any) (ignored []string, err error) {
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 {
		body.Grow(int(min(n, firstRoom)) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(r.Body); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			large := chela.E(chela.Invalid, "the request is too large")
			return nil, edge.Refusal{Err: Refuse("", "request_too_large", large), Status: http.StatusRequestEntityTooLarge}
		}
		return nil, chela.E(chela.Invalid, "the body could not be read to its end").Because(err)
	}
	if !utf8.Valid(body.Bytes()) {
		return nil, chela.E(chela.Invalid, "the body is not valid UTF-8")
	}
	err = json.Unmarshal(body.Bytes(), into)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, Wrong(cmp.Or(mistyped.Field, "body"), "a JSON "+mistyped.Value+" does not belong here")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, chela.E(chela.Invalid, fmt.Sprintf("the body is not JSON: %s at byte %d", syntax.Error(), syntax.Offset))
	}
	if err != nil {
		return nil, chela.E(chela.Invalid, "the body is not JSON: "+err.Error())
	}
	return unknown(body.Bytes(), into), nil
}

// given tells that a field is there, whatever its value.
type given bool

// UnmarshalJSON implements json.Unmarshaler.
func (g *given) UnmarshalJSON(b []byte) error {
	*g = given(!isNull(b))
	return nil
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// efforts maps reasoning_effort to thinking levels.
var efforts = map[string]chela.ThinkingLevel{
	"": "", "none": chela.ThinkingOff, "minimal": chela.ThinkingMinimal, "low": chela.ThinkingLow,
	"medium": chela.ThinkingMedium, "high": chela.ThinkingHigh, "xhigh": chela.ThinkingXHigh,
}

func (q *Request) setEffort(param, word string) error {
	level, ok := efforts[word]
	if !ok {
		return Wrong(param, fmt.Sprintf("%.40q is no effort", word))
	}
	if level != "" {
		q.Effort, q.ForModel = level, append(q.ForModel, param)
	}
	return nil
}

// setLimit sets the limit of output.
func (q *Request) setLimit(param string, n *int) error {
	switch {
	case n == nil:
		return nil
	case *n < 1:
		return Wrong(param, "must be at least 1")
	}
	q.MaxTokens = *n
	return nil
}

// A function is a tool that the client runs itself.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// functionName is what OpenAI lets a function be called.
var functionName = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

// spec returns a function as the model is offered it.
func (f function) spec(param string) (chela.ToolSpec, error) {
	spec := chela.ToolSpec{Name: f.Name, Description: f.Description, Input: f.Parameters}
	switch {
	case !functionName().MatchString(f.Name):
		return spec, Wrong(param+".name", "must be 1 to 64 letters, digits, _ and -")
	case isNull(f.Parameters):
		spec.Input = json.RawMessage(`{"type":"object","properties":{}}`)
	case f.Parameters[0] != '{':
		return spec, Wrong(param+".parameters", "must be a JSON Schema, an object")
	}
	return spec, nil
}

// offer adds the tool at an index, which must be a function. The path of the
// function below the tool appears in errors.
func (q *Request) offer(place int, kind string, f function, below string) error {
	param := fmt.Sprintf("tools[%d]", place)
	if kind != "function" {
		return Unsupported(param+".type", fmt.Sprintf("tools of type %.40q are not known; offer a function", kind))
	}
	spec, err := f.spec(param + below)
	if err != nil {
		return err
	}
	q.Offers = append(q.Offers, spec)
	return nil
}

// choose keeps the offered tools that the model may call, each name once, and
// sets the one it must call.
func (q *Request) choose(choice json.RawMessage) error {
	seen := make(map[string]bool, len(q.Offers))
	for _, o := range q.Offers {
		if seen[o.Name] {
			return Wrong("tools", "there are two functions named "+o.Name)
		}
		seen[o.Name] = true
	}
	switch string(choice) {
	case "", "null", `"auto"`:
		return nil
	case `"none"`:
		q.Offers = nil
		return nil
	case `"required"`:
		if len(q.Offers) == 0 {
			return Wrong("tool_choice", "there is no tool to call")
		}
		q.Sampling.MustCall = true
		return nil
	}
	var named struct {
		Type     string `json:"type"`
		Name     string `json:"name"` // of a response
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if err := json.Unmarshal(choice, &named); err != nil || named.Type != "function" {
		return Unsupported("tool_choice", `use "auto", "none", "required" or a function`)
	}
	name := cmp.Or(named.Function.Name, named.Name)
	if !seen[name] {
		return Wrong("tool_choice", fmt.Sprintf("there is no function %.64q among the tools", name))
	}
	q.Sampling.CallTool = name
	return nil
}

// TextBuilder joins texts with blank lines. Its zero value is empty. Joining n texts takes
// time linear in their length: a request may hold a hundred thousand of them.
type TextBuilder struct{ b strings.Builder }

// Add appends a text; an empty one is left out.
func (t *TextBuilder) Add(text string) {
	if text == "" {
		return
	}
	if t.b.Len() > 0 {
		t.b.WriteString("\n\n")
	}
	t.b.WriteString(text)
}

// String returns the joined text.
func (t *TextBuilder) String() string { return t.b.String() }

// Joined returns texts joined by blank lines.
func Joined(texts ...string) string {
	var t TextBuilder
	for _, text := range texts {
		t.Add(text)
	}
	return t.String()
}

// Arguments returns the arguments of a call as the client is told them.
func Arguments(c chela.CallSpec) string {
	if len(c.Args) > 0 {
		return string(c.Args)
	}
	return c.Raw
}
