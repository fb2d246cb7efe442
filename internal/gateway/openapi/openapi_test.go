package openapi_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway"
	"chela/internal/gateway/openapi"
)

// document returns the document of the gateway, read again.
func document(t *testing.T) *openapi3.T {
	t.Helper()
	raw, err := openapi.Document(gateway.Routes(), "test")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	doc := document(t)
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	ids := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if ids[op.OperationID] || op.OperationID == "" {
				t.Errorf("%s %s has the id %q", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
		}
	}
}

func TestDocumentIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	first, err := openapi.Document(gateway.Routes(), "test")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := openapi.Document(gateway.Routes(), "test")
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("another document: %v", err)
		}
	}
}

// TestRoutesAreDescribed compares the document with the table, both ways.
func TestRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	doc := document(t)
	var described, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	for _, r := range gateway.Routes() {
		path := strings.ReplaceAll(r.Path, "...}", "}")
		served = append(served, r.Method+" "+path)
		op := doc.Paths.Find(path).GetOperation(r.Method)
		if op == nil {
			continue // the comparison tells
		}
		checkAccess(t, r, op)
		checkParameters(t, r, op)
		if (op.RequestBody != nil) != (r.BodyType != "") || op.Responses.Status(r.Status) == nil || op.Responses.Default() == nil {
			t.Errorf("%s %s: body %v, answers %v", r.Method, r.Path, op.RequestBody, op.Responses.Keys())
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("routes (-served +described):\n%s", diff)
	}
}

func checkAccess(t *testing.T, r api.Route, op *openapi3.Operation) {
	t.Helper()
	if got := op.Extensions["x-scope"]; got != string(r.Scope) || op.Summary != r.Summary {
		t.Errorf("%s %s has the scope %v and the summary %q", r.Method, r.Path, got, op.Summary)
	}
	var schemes []string
	for _, way := range *op.Security {
		for name := range way {
			schemes = append(schemes, name)
		}
	}
	want := []string{"bearer", "cookie"}
	if r.Scope == api.Public {
		want = nil
	}
	if diff := cmp.Diff(want, schemes); diff != "" {
		t.Errorf("%s %s: ways in (-want +got):\n%s", r.Method, r.Path, diff)
	}
	if public := r.Scope == api.Public; public != (op.Responses.Status(401) == nil) || !public && !strings.Contains(op.Description, string(r.Scope)) {
		t.Errorf("%s %s: %q, answers %v", r.Method, r.Path, op.Description, op.Responses.Keys())
	}
}

func checkParameters(t *testing.T, r api.Route, op *openapi3.Operation) {
	t.Helper()
	want := map[string]string{}
	for _, segment := range strings.Split(r.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			want[strings.TrimRight(name, ".}")] = "path"
		}
	}
	for _, p := range r.Query {
		want[p.Name] = "query"
	}
	for _, p := range r.Headers {
		want[p.Name] = "header"
	}
	got := map[string]string{}
	for _, p := range op.Parameters {
		got[p.Value.Name] = p.Value.In
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s: parameters (-want +got):\n%s", r.Method, r.Path, diff)
	}
}

// TestSchemas looks at what the JSON tags say of one type, and at what each
// sort of field becomes.
func TestSchemas(t *testing.T) {
	t.Parallel()
	doc := document(t)
	message := doc.Components.Schemas["NewMessage"].Value
	if diff := cmp.Diff([]string{"text"}, message.Required); diff != "" {
		t.Errorf("what a message must have (-want +got):\n%s", diff)
	}
	if message.AdditionalProperties.Has == nil || *message.AdditionalProperties.Has {
		t.Error("a message may have any field")
	}
	for value, want := range map[string]bool{
		`{"text":"hi"}`: true, `{"text":"hi","attachments":[{"name":"a","content":"aGk="}]}`: true, `{"text":"hi","mode":"steer"}`: true,
		`{}`: false, `{"text":7}`: false, `{"text":"hi","txet":""}`: false, `{"text":"hi","mode":"later"}`: false,
		`{"text":"hi","attachments":[{"path":"/etc/passwd","name":""}]}`: false,
	} {
		var decoded any
		if err := json.Unmarshal([]byte(value), &decoded); err != nil {
			t.Fatal(err)
		}
		if err := message.VisitJSON(decoded); (err == nil) != want {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, name := range []string{"Session", "SessionPage", "Attachment", "MessageAttachment", "Turn", "TurnOutcome", "Frame", "Event", "MadeToken", "ErrorBody"} {
		if doc.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
	made := doc.Components.Schemas["MadeToken"].Value
	if diff := cmp.Diff([]string{"id", "name", "scope", "created_at", "secret"}, made.Required); diff != "" {
		t.Errorf("what is embedded is part of it (-want +got):\n%s", diff)
	}
	if page := doc.Components.Schemas["SessionPage"].Value; page.Properties["items"].Value.Nullable {
		t.Error("the items of a page may be null")
	}
	if subjects := doc.Components.Schemas["Approval"].Value.Properties["subjects"].Value; !subjects.Nullable {
		t.Error("a list that is always there may not be null")
	}
}

func TestNamesMustNotMeet(t *testing.T) {
	t.Parallel()
	type Session struct {
		Key string `json:"key"`
	}
	routes := []api.Route{
		{Method: "GET", Path: "/a", Scope: api.Public, Summary: "a", Answer: chela.Session{}, AnswerType: api.JSON, Status: 200},
		{Method: "GET", Path: "/b", Scope: api.Public, Summary: "b", Answer: Session{}, AnswerType: api.JSON, Status: 200},
	}
	if _, err := openapi.Document(routes, "test"); chela.KindOf(err) != chela.Internal || !strings.Contains(err.Error(), "Session") {
		t.Errorf("error is %v", err)
	}
}

// TestEnumsAreTheConstants compares the values of each named string type with
// the constants of its package.
func TestEnumsAreTheConstants(t *testing.T) {
	t.Parallel()
	constants := constantsOf(t, filepath.Join("..", "..", ".."))
	maps.Copy(constants, constantsOf(t, filepath.Join("..", "..", "api")))
	listed := map[string]bool{}
	for typ, values := range openapi.Enums() {
		listed[typ.Name()] = true
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
		want := slices.DeleteFunc(constants[typ.Name()], func(v string) bool { return v == "" })
		if diff := cmp.Diff(want, values); diff != "" {
			t.Errorf("values of %s (-declared +described):\n%s", typ, diff)
		}
	}
	for _, r := range gateway.Routes() {
		for _, value := range []any{r.Body, r.Answer} {
			if value == nil {
				continue
			}
			eachString(reflect.TypeOf(value), map[reflect.Type]bool{}, func(typ reflect.Type) {
				if len(constants[typ.Name()]) > 0 && strings.HasPrefix(typ.PkgPath(), "chela") && !listed[typ.Name()] {
					t.Errorf("%s %s: the values of %s are not described", r.Method, r.Path, typ)
				}
			})
		}
	}
}

// eachString looks at the string types that a type is made of.
func eachString(t reflect.Type, seen map[reflect.Type]bool, look func(reflect.Type)) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.String:
		look(t)
	case reflect.Pointer, reflect.Slice, reflect.Map:
		eachString(t.Elem(), seen, look)
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			if field.Tag.Get("json") != "-" {
				eachString(field.Type, seen, look)
			}
		}
	}
}

// constantsOf returns the constants of the named types of a package, in order.
func constantsOf(t *testing.T, dir string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no source: %v", err)
	}
	found := map[string][]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			typ, named := spec.Type.(*ast.Ident)
			literal, plain := spec.Values[0].(*ast.BasicLit)
			if named && plain && literal.Kind == token.STRING {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				found[typ.Name] = append(found[typ.Name], value)
			}
			return true
		})
	}
	return found
}
