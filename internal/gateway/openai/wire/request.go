package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
)

// A Request is what both forms ask for.
type Request struct {
	Model     string
	Said      []Said
	Offers    []chela.ToolSpec // tools that the client runs itself
	User      string
	Previous  string // id of the response that this one goes on from
	Streamed  bool
	MaxTokens int // of the answer; 0 for no limit
	Effort    chela.ThinkingLevel
	ForModel  []string // names of the two fields above, if they are set
	Ignored   []string // fields that have no effect on anybody

	format format
}

// Said is one thing that was said.
type Said struct {
	Role  Role
	Text  string
	Files []File
	Calls []chela.CallSpec // of the assistant; Ref is the id that the client knows
	Ref   string           // of a result: the call it answers
	Param string           // where it is in the request
}

// A Role says who speaks in a request.
type Role string

// The roles.
const (
	RoleSystem    Role = "system" // the developer of the client
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // one result
)

// Fresh returns where the new part of a conversation begins: after the last
// message of the assistant.
func (q *Request) Fresh() int {
	for i, s := range slices.Backward(q.Said) {
		if s.Role == RoleAssistant {
			return i + 1
		}
	}
	return 0
}

// form is the body of a request, in one of the two forms.
type form interface {
	// request checks the body and takes it apart.
	request() (*Request, error)
}

// Chat reads a request for a chat completion. Fields that are not known are
// left alone. What is wrong with the body is an Invalid error that names the
// field.
func Chat(r *http.Request, now time.Time) (*Request, error) {
	var body chatRequest
	q, err := parse(r, &body)
	if err == nil {
		q.format = chatFormat{model: q.Model, created: now.Unix(), usage: body.StreamOptions.IncludeUsage}
	}
	return q, err
}

// Responses reads a request for a response, as [Chat] does.
func Responses(r *http.Request, now time.Time) (*Request, error) {
	var body responsesRequest
	q, err := parse(r, &body)
	if err == nil {
		q.format = responsesFormat{asked: &body, created: now.Unix()}
	}
	return q, err
}

// parse reads a body and takes it apart.
func parse(r *http.Request, f form) (*Request, error) {
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 {
		body.Grow(int(min(n, api.MaxBody)) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(r.Body); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, err
		}
		return nil, chela.E(chela.Invalid, "the body could not be read to its end").Because(err)
	}
	return decode(body.Bytes(), f)
}

// decode takes a body apart.
func decode(body []byte, f form) (*Request, error) {
	if !utf8.Valid(body) {
		return nil, chela.E(chela.Invalid, "the body is not valid UTF-8")
	}
	err := json.Unmarshal(body, f)
	var mistyped *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &mistyped):
		return nil, typed(mistyped)
	case errors.As(err, &syntax):
		return nil, chela.E(chela.Invalid, fmt.Sprintf("the body is not JSON: %s at byte %d", syntax.Error(), syntax.Offset))
	case err != nil:
		return nil, chela.E(chela.Invalid, "the body is not JSON: "+err.Error())
	}
	return f.request()
}

// given tells that a field is there, whatever its value.
type given bool

// UnmarshalJSON implements json.Unmarshaler.
func (g *given) UnmarshalJSON(b []byte) error {
	*g = given(!isNull(b))
	return nil
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// knobs are fields that set how a model speaks. The agent has settings of its
// own, and a bare model is asked with its defaults.
type knobs struct {
	Temperature      given `json:"temperature"`
	TopP             given `json:"top_p"`
	Seed             given `json:"seed"`
	PresencePenalty  given `json:"presence_penalty"`
	FrequencyPenalty given `json:"frequency_penalty"`
	LogitBias        given `json:"logit_bias"`
	Verbosity        given `json:"verbosity"`
	ParallelCalls    given `json:"parallel_tool_calls"`
	MaxToolCalls     given `json:"max_tool_calls"`
}

// without returns the names of the fields that are given and have no effect.
func (k knobs) without() []string {
	if k == (knobs{}) {
		return nil
	}
	var names []string
	for _, f := range []struct {
		given given
		name  string
	}{
		{k.Temperature, "temperature"},
		{k.TopP, "top_p"},
		{k.Seed, "seed"},
		{k.PresencePenalty, "presence_penalty"},
		{k.FrequencyPenalty, "frequency_penalty"},
		{k.LogitBias, "logit_bias"},
		{k.Verbosity, "verbosity"},
		{k.ParallelCalls, "parallel_tool_calls"},
		{k.MaxToolCalls, "max_tool_calls"},
	} {
		if f.given {
			names = append(names, f.name)
		}
	}
	return names
}

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
	q.MaxTokens, q.ForModel = *n, append(q.ForModel, param)
	return nil
}

// A function is a tool that the client runs itself.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// functionName is what OpenAI lets a function be called.
var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// spec returns a function as the model is offered it.
func (f function) spec(param string) (chela.ToolSpec, error) {
	spec := chela.ToolSpec{Name: f.Name, Description: f.Description, Input: f.Parameters}
	switch {
	case !functionName.MatchString(f.Name):
		return spec, Wrong(param+".name", "must be 1 to 64 letters, digits, _ and -")
	case isNull(f.Parameters):
		spec.Input = json.RawMessage(`{"type":"object","properties":{}}`)
	case f.Parameters[0] != '{':
		return spec, Wrong(param+".parameters", "must be a JSON Schema, an object")
	}
	return spec, nil
}

// offer adds the tool at a place, which must be a function. Where the function
// stands below the tool is told in errors.
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

// choose keeps those of the offers that the model may call, no two of one name.
// To make it call one is not possible.
func (q *Request) choose(choice json.RawMessage) error {
	for i, o := range q.Offers {
		for _, before := range q.Offers[:i] {
			if o.Name == before.Name {
				return Wrong("tools", "there are two functions named "+o.Name)
			}
		}
	}
	switch string(choice) {
	case "", "null", `"auto"`:
		return nil
	case `"none"`:
		q.Offers = nil
		return nil
	default:
		return Unsupported("tool_choice", `the model cannot be made to call a tool; use "auto" or "none"`)
	}
}

// Join puts a blank line between two texts.
func Join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// Arguments returns the arguments of a call as the client is told them.
func Arguments(c chela.CallSpec) string {
	if len(c.Args) > 0 {
		return string(c.Args)
	}
	return c.Raw
}
