package gateway_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
)

// openapiDocument returns the document of the gateway, read again.
func openapiDocument(t *testing.T) *openapi3.T {
	t.Helper()
	raw, err := gateway.OpenAPIDocument(gateway.Routes(), "test")
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
	doc := openapiDocument(t)
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

// TestPatternsCompile: the patterns of the document are compiled when the first
// value is checked, where a wrong one would end the request.
func TestPatternsCompile(t *testing.T) {
	t.Parallel()
	raw, err := gateway.OpenAPIDocument(gateway.Routes(), "test")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"pattern":("(?:[^"\\]|\\.)*")`).FindAllSubmatch(raw, -1)
	for _, m := range found {
		var pattern string
		if err := json.Unmarshal(m[1], &pattern); err != nil {
			t.Fatal(err)
		}
		if _, err := regexp.Compile(pattern); err != nil {
			t.Errorf("pattern %s: %v", pattern, err)
		}
	}
	if len(found) < 50 {
		t.Errorf("the document has %d patterns only", len(found))
	}
}

func TestDocumentIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	first, err := gateway.OpenAPIDocument(gateway.Routes(), "test")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := gateway.OpenAPIDocument(gateway.Routes(), "test")
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("another document: %v", err)
		}
	}
}

// TestRoutesAreDescribed compares the document with the table, both ways.
func TestRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	doc := openapiDocument(t)
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
		if (op.RequestBody != nil) != (r.BodyType != "") || op.Responses.Status(r.Status) == nil || op.Responses.Status(http.StatusServiceUnavailable) == nil {
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
	if public := r.Scope == api.Public; public != (op.Responses.Status(401) == nil) && r.Path != "/api/login" && !strings.HasPrefix(r.Path, "/hooks/") || !public && !strings.Contains(op.Description, string(r.Scope)) {
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
	for _, p := range r.AllHeaders() {
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
	doc := openapiDocument(t)
	message := doc.Components.Schemas["NewMessage"].Value
	for value, want := range map[string]bool{
		`{"text":"hi"}`: true, `{"text":"hi","attachments":[{"name":"a","content":"aGk="}]}`: true, `{"text":"hi","mode":"steer"}`: true,
		`{}`: false, `{"text":7}`: false, `{"text":"hi","txet":""}`: false, `{"text":"hi","mode":"later"}`: false,
		`{"text":"hi","attachments":[{"path":"/etc/passwd","name":""}]}`: false, `{"text":"hi","attachments":[{"name":"a"}]}`: false,
		`{"text":"hi","from":{"channel":"irc","peer":"a"}}`: true, `{"text":"hi","from":{"channel":"irc","peer":"a"},"thread":"thr_1"}`: false,
		`{"text":"hi","from":{"channel":"irc","peer":"a","room":"b","group":"c"}}`: false, `{"text":"hi","session":"main"}`: false,
	} {
		var decoded any
		if err := json.Unmarshal([]byte(value), &decoded); err != nil {
			t.Fatal(err)
		}
		if err := message.VisitJSON(decoded); (err == nil) != want {
			t.Errorf("%s: %v", value, err)
		}
		limits, err := api.Schemas().Of(api.Message{})
		if err != nil {
			t.Fatal(err)
		}
		if err := limits.Check([]byte(value)); (err == nil) != want {
			t.Errorf("enforced: %s: %v", value, err)
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

// TestEntriesMatchTheirSchema: the kind of an entry decides which body it has.
func TestEntriesMatchTheirSchema(t *testing.T) {
	t.Parallel()
	entry := openapiDocument(t).Components.Schemas["Entry"].Value
	check := func(raw []byte) error {
		var decoded any
		if err := json.Unmarshal(raw, &decoded); err != nil {
			t.Fatal(err)
		}
		return entry.VisitJSON(decoded)
	}
	for _, b := range chela.Bodies() {
		raw, err := json.Marshal(chela.Entry{ID: "ent_1", Thread: "thr_1", Turn: "turn_1", Seq: 1, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		if err := check(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
	raw, err := json.Marshal(chela.Entry{ID: "ent_1", Thread: "thr_1", Turn: "turn_1", Seq: 1, Body: chela.AnswerBody{
		Text: "a", Calls: []chela.CallSpec{{ID: "call_1", Tool: "x"}}, Usage: &chela.TokenUsage{}, Mark: chela.Mark{Hidden: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(raw); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
	if wrong := bytes.Replace(raw, []byte(`"assistant"`), []byte(`"user"`), 1); check(wrong) == nil {
		t.Errorf("%s matches the schema", wrong)
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
	if _, err := gateway.OpenAPIDocument(routes, "test"); chela.KindOf(err) != chela.Internal || !strings.Contains(err.Error(), "Session") {
		t.Errorf("error is %v", err)
	}
}

// TestWordsAreTheConstants compares the words of each named string type with the
// constants of its package.
func TestWordsAreTheConstants(t *testing.T) {
	t.Parallel()
	constants := constantsOf(t, filepath.Join("..", "..", ".."))
	maps.Copy(constants, constantsOf(t, filepath.Join("..", "..", "api")))
	set, seen := api.Schemas(), map[reflect.Type]bool{}
	compare := func(typ reflect.Type) {
		want := constants[typ.Name()]
		if len(want) == 0 || !strings.HasPrefix(typ.PkgPath(), "chela") {
			return
		}
		described, err := set.Of(reflect.Zero(typ).Interface())
		if err != nil {
			t.Error(err)
			return
		}
		isEmpty := func(v string) bool { return v == "" }
		values := slices.DeleteFunc(slices.Clone(described.Enum), isEmpty)
		want = slices.DeleteFunc(slices.Clone(want), isEmpty)
		if typ == reflect.TypeFor[chela.QueueDrop]() { // clients may not set this one
			want = slices.DeleteFunc(want, func(v string) bool { return v == string(chela.DropNever) })
		}
		if diff := cmp.Diff(want, values); diff != "" {
			t.Errorf("words of %s (-declared +described):\n%s", typ, diff)
		}
	}
	for _, body := range chela.Bodies() {
		eachString(reflect.TypeOf(body), seen, compare)
	}
	for _, r := range gateway.Routes() {
		for _, value := range []any{r.Body, r.Answer} {
			if value != nil {
				eachString(reflect.TypeOf(value), seen, compare)
			}
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d types were looked at", len(seen))
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

// FuzzLimits takes any JSON for a routine and a message: what is enforced is what
// is documented, and what is accepted can be decoded.
func FuzzLimits(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","trigger":{"kind":"cron","cron":"0 9 * * *"},"action":{"kind":"turn","text":"x"}}`,
		`{"name":"a","trigger":{"kind":"every","every_ms":60000,"cron":""},"action":{"kind":"job","text":" "}}`,
		`{"name":"a","trigger":{"kind":"manual"},"action":{"kind":"notify","text":"x"},"notify":{"target":"explicit","channel":"a"}}`,
		`{"text":"x","attachments":[{"name":"a","sha256":""}],"from":null}`, `{"text":"\u0001","session":"agent:a:dm:%C3%A4"}`, `[]`, `null`, `{"text":1e1}`,
	} {
		f.Add([]byte(seed))
	}
	raw, err := gateway.OpenAPIDocument(gateway.Routes(), "test")
	if err != nil {
		f.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		f.Fatal(err)
	}
	set := api.Schemas()
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) || !utf8.Valid(raw) {
			return
		}
		for name, body := range map[string]any{"NewRoutine": api.NewRoutine{}, "NewMessage": api.Message{}} {
			limits, err := set.Of(body)
			if err != nil {
				t.Fatal(err)
			}
			if limits.Check(raw) != nil {
				continue
			}
			var decoded any
			if err := json.Unmarshal(raw, &decoded); err != nil {
				t.Fatal(err)
			}
			if err := doc.Components.Schemas[name].Value.VisitJSON(decoded); err != nil && !strings.Contains(err.Error(), "Length") {
				t.Errorf("%s: %s is accepted and not documented: %v", name, raw, err)
			}
		}
	})
}
