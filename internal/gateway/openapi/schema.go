package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3gen"

	"chela"
	"chela/internal/api"
)

// schemas are the schemas of a document, by the names of their types.
type schemas struct {
	all       openapi3.Schemas
	types     map[string]reflect.Type
	generator *openapi3gen.Generator
	err       error // two types have one name
}

func newSchemas() *schemas {
	s := &schemas{all: openapi3.Schemas{}, types: map[string]reflect.Type{}}
	s.generator = openapi3gen.NewGenerator(
		openapi3gen.CreateComponentSchemas(openapi3gen.ExportComponentSchemasOptions{
			ExportComponentSchemas: true, ExportTopLevelSchema: true, ExportGenerics: true,
		}),
		openapi3gen.CreateTypeNameGenerator(s.name),
		openapi3gen.SchemaCustomizer(refine),
	)
	return s
}

// of returns the schema of a value's type.
func (s *schemas) of(value any) (*openapi3.SchemaRef, error) {
	if _, raw := value.(json.RawMessage); raw {
		return openapi3.NewObjectSchema().WithAnyAdditionalProperties().NewRef(), nil
	}
	ref, err := s.generator.NewSchemaRefForValue(value, s.all)
	if err == nil {
		err = s.err
	}
	return ref, err
}

// taken returns the schema of a body that the daemon reads: what it does not
// know is refused.
func (s *schemas) taken(value any) (*openapi3.SchemaRef, error) {
	ref, err := s.of(value)
	if err == nil {
		s.closeAll(ref)
	}
	return ref, err
}

// closeAll lets a schema, and those it refers to, have no other properties.
func (s *schemas) closeAll(ref *openapi3.SchemaRef) {
	if ref == nil {
		return
	}
	schema := ref.Value
	if name, ok := strings.CutPrefix(ref.Ref, "#/components/schemas/"); ok {
		schema = s.all[name].Value
	}
	if len(schema.Properties) > 0 {
		schema.WithoutAdditionalProperties()
	}
	s.closeAll(schema.Items)
	for _, property := range schema.Properties {
		s.closeAll(property)
	}
}

// renamed are the types of the API that have the name of a word.
var renamed = map[reflect.Type]string{
	reflect.TypeFor[api.Answer]():     "ApprovalAnswer",
	reflect.TypeFor[api.Attachment](): "MessageAttachment",
	reflect.TypeFor[api.Job]():        "ShownJob",
	reflect.TypeFor[api.Message]():    "NewMessage",
	reflect.TypeFor[api.Session]():    "ShownSession",
	reflect.TypeFor[api.Tool]():       "ListedTool",
	reflect.TypeFor[api.Thread]():     "ShownThread",
	reflect.TypeFor[api.Turn]():       "TurnOutcome",
}

// name returns the name of a type's schema.
func (s *schemas) name(t reflect.Type) string {
	name := t.Name()
	if other, ok := renamed[t]; ok {
		name = other
	} else if items, ok := itemsOf(t); ok {
		name = s.name(items) + "Page"
	}
	if known, ok := s.types[name]; ok && known != t {
		s.err = chela.E(chela.Internal, fmt.Sprintf("%s and %s have the schema name %s", known, t, name))
	}
	s.types[name] = t
	return name
}

// itemsOf returns what a page is a page of.
func itemsOf(t reflect.Type) (reflect.Type, bool) {
	if t.PkgPath() != reflect.TypeFor[api.Filter]().PkgPath() || !strings.HasPrefix(t.Name(), "Page[") {
		return nil, false
	}
	items, _ := t.FieldByName("Items")
	return items.Type.Elem(), true
}

// refine adds to a schema what its generator does not know: the values of a named
// string type, and which fields are always there. Lists that are always there
// may be null, as nil slices are; those of pages are not.
func refine(_ string, t reflect.Type, _ reflect.StructTag, schema *openapi3.Schema) error {
	for _, value := range enums[t] {
		schema.Enum = append(schema.Enum, value)
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	_, page := itemsOf(t)
	for _, field := range reflect.VisibleFields(t) {
		tag, tagged := field.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		property, described := schema.Properties[name]
		if !tagged || !described || strings.Contains(options, "omit") {
			continue
		}
		schema.Required = append(schema.Required, name)
		if field.Type.Kind() == reflect.Slice && !page {
			property.Value.Nullable = true
		}
	}
	return nil
}
