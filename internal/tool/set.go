package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"chela"
	"chela/internal/platform/lazyregexp"
	"chela/internal/platform/nearest"
)

// A Set is the ordered list of tools offered to a model. It is immutable and
// safe for concurrent use.
type Set struct {
	tools  []chela.Tool
	byName map[string]member
}

// A member is a tool of a set with its schema, which is compiled when the first
// call is checked, so that startup does not pay for tools that are not called.
type member struct {
	tool   chela.Tool
	schema func() (*schema, error)
}

// A schema is a JSON Schema in two forms: compiled, for validation, and as a
// document, for coercion and error messages.
type schema struct {
	compiled *jsonschema.Schema
	doc      map[string]any
}

// NewSet returns the set of tools. It fails with Invalid if a tool has no
// usable name, schema or Run, and with Conflict if two have the same name.
func NewSet(tools ...chela.Tool) (*Set, error) {
	s := &Set{tools: slices.Clone(tools), byName: make(map[string]member, len(tools))}
	for _, t := range tools {
		if err := checkTool(t); err != nil {
			return nil, err
		}
		if _, ok := s.byName[t.Name]; ok {
			return nil, chela.E(chela.Conflict, fmt.Sprintf("two tools are called %q", t.Name))
		}
		s.byName[t.Name] = member{
			tool:   t,
			schema: sync.OnceValues(func() (*schema, error) { return compile(t) }),
		}
	}
	return s, nil
}

func checkTool(t chela.Tool) error {
	switch {
	case !toolName().MatchString(t.Name):
		return chela.E(chela.Invalid, fmt.Sprintf("%q cannot name a tool", t.Name)).
			WithHint(`use 1 to 64 letters, digits, "_" and "-"`)
	case t.Run == nil:
		return chela.E(chela.Invalid, fmt.Sprintf("tool %s has no Run", t.Name))
	case !bytes.HasPrefix(bytes.TrimSpace(t.Input), []byte("{")) || !json.Valid(t.Input):
		return chela.E(chela.Invalid, fmt.Sprintf("the schema of tool %s is not a JSON object", t.Name))
	default:
		return nil
	}
}

// toolName matches the names of tools that providers accept.
var toolName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// Get returns the tool called name.
func (s *Set) Get(name string) (chela.Tool, bool) {
	m, ok := s.byName[name]
	return m.tool, ok
}

// All returns the tools in order.
func (s *Set) All() []chela.Tool { return slices.Clone(s.tools) }

// Specs returns the specifications of the tools for a model request, in order.
func (s *Set) Specs() []chela.ToolSpec {
	specs := make([]chela.ToolSpec, len(s.tools))
	for i, t := range s.tools {
		specs[i] = chela.ToolSpec{Name: t.Name, Description: t.Description, Input: t.Input}
	}
	return specs
}

// Nearest returns up to three did-you-mean suggestions for name, best first.
func (s *Set) Nearest(name string) []string {
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.Name
	}
	return nearest.Names(name, names, 3)
}

// Check returns args in the form that the tool called name takes: as canonical
// JSON, with harmless slips repaired (see [Canonical] and coerce). An unknown
// tool is NotFound; arguments that do not fit are Invalid, with every problem
// on a line of its own in the message; both are written for the model.
func (s *Set) Check(name string, args json.RawMessage) (json.RawMessage, error) {
	m, ok := s.byName[name]
	if !ok {
		return nil, s.unknown(name)
	}
	sch, err := m.schema()
	if err != nil {
		return nil, err
	}
	v, err := decodeArgs(args)
	if err != nil {
		return nil, chela.E(chela.Invalid, fmt.Sprintf("the arguments of %s are not usable JSON: %v", name, err)).
			WithHint("send one JSON object")
	}
	v = coerceArgs(sch.doc, v)
	if problems := sch.problems(v); len(problems) > 0 {
		return nil, chela.E(chela.Invalid, fmt.Sprintf("invalid arguments for %s:\n- %s", name, strings.Join(problems, "\n- ")))
	}
	return encode(v, 0), nil
}

func (s *Set) unknown(name string) error {
	msg := fmt.Sprintf("there is no tool called %s", quote(name))
	names := s.Nearest(name)
	if len(names) == 0 {
		return chela.E(chela.NotFound, msg).WithHint("call one of the tools you were offered")
	}
	return chela.E(chela.NotFound, msg+"; the nearest are "+strings.Join(names, ", ")).
		WithHint("call one of these")
}

func compile(t chela.Tool) (*schema, error) {
	fault := chela.E(chela.Internal, fmt.Sprintf("the schema of tool %s does not compile", t.Name))
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(t.Input))
	if err != nil {
		return nil, fault.Because(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const url = "tool:input"
	if err := c.AddResource(url, doc); err != nil {
		return nil, fault.Because(err)
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, fault.Because(err)
	}
	object, _ := doc.(map[string]any) // NewSet has checked that it is one
	return &schema{compiled: compiled, doc: object}, nil
}

// A noLoader refuses references out of a schema, which the library would
// otherwise read from disk.
type noLoader struct{}

// Load refuses url.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s, outside of itself", url)
}
