package gateway

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/schema"
)

// components are the schemas of a document, by name.
type components struct {
	set   *schema.Set
	all   openapi3.Schemas
	known map[*schema.Schema]bool

	byHand   map[string]bool // names of schemas that are written by hand
	collides bool            // a type uses this name
}

const folder = "#/components/schemas/"

// of returns the schema of a value's type, or a hand-written one.
func (c *components) of(value any) (*openapi3.SchemaRef, error) {
	if d, ok := value.(api.SchemaDocument); ok {
		return c.described(d)
	}
	made, err := c.set.Of(value)
	if err != nil {
		return nil, err
	}
	return c.ref(made), nil
}

// described returns a hand-written schema, and adds its siblings. A missing
// schema, and a second schema of a name, are Internal errors.
func (c *components) described(d api.SchemaDocument) (*openapi3.SchemaRef, error) {
	var all openapi3.Schemas
	if err := json.Unmarshal(d.Schemas, &all); err != nil {
		return nil, fmt.Errorf("read the schemas of %s: %w", d.Name, err)
	}
	if all[d.Name] == nil {
		return nil, chela.E(chela.Internal, "there is no schema "+d.Name)
	}
	for name, schema := range all {
		if _, taken := c.all[name]; taken && !c.byHand[name] {
			return nil, chela.E(chela.Internal, "there are two schemas named "+name)
		}
		c.all[name], c.byHand[name] = schema, true
	}
	return openapi3.NewSchemaRef(folder+d.Name, nil), nil
}

// ref returns a reference to a schema that has a name, and others as they are.
func (c *components) ref(s *schema.Schema) *openapi3.SchemaRef {
	if s.Name == "" {
		return c.plain(s).NewRef()
	}
	if !c.known[s] {
		c.collides = c.collides || c.byHand[s.Name]
		c.known[s] = true // a type may hold itself
		c.all[s.Name] = c.plain(s).NewRef()
	}
	return openapi3.NewSchemaRef(folder+s.Name, nil)
}

// plain returns a schema as OpenAPI describes it.
func (c *components) plain(s *schema.Schema) *openapi3.Schema {
	d := &openapi3.Schema{Format: s.Format, Pattern: s.Pattern, Nullable: s.Nullable}
	if s.Type != "" {
		d.Type = &openapi3.Types{string(s.Type)}
	}
	for _, word := range s.Enum {
		d.Enum = append(d.Enum, word)
	}
	least := uint64(0)
	if s.Min != nil {
		least = uint64(*s.Min)
	}
	switch s.Type {
	case schema.String:
		d.MinLength, d.MaxLength = least, converted[uint64](s.Max)
	case schema.Array:
		d.MinItems, d.MaxItems, d.Items = least, converted[uint64](s.Max), c.ref(s.Items)
	case schema.Integer, schema.Number:
		d.Min, d.Max = converted[float64](s.Min), converted[float64](s.Max)
		if s.Step > 0 {
			d.MultipleOf = new(float64(s.Step))
		}
	case schema.Object:
		return c.object(s)
	}
	return d
}

// converted returns a limit as another type of number.
func converted[T uint64 | float64](n *int64) *T {
	if n == nil {
		return nil
	}
	return new(T(*n))
}

// object returns the schema of an object. An object whose properties depend on
// each other becomes a union of closed objects.
func (c *components) object(s *schema.Schema) *openapi3.Schema {
	forms := schemaForms(s)
	if len(forms) == 1 {
		return c.form(s, forms[0])
	}
	d := &openapi3.Schema{}
	for _, f := range forms {
		d.OneOf = append(d.OneOf, c.form(s, f).NewRef())
	}
	return d
}

// A schemaForm is one set of properties that an object may have.
type schemaForm struct {
	values     []string // of the switch
	properties []schema.Property
	required   []string
}

// schemaForms returns the forms that an object may have.
func schemaForms(s *schema.Schema) []schemaForm {
	if s.Switch != "" {
		return switched(s)
	}
	all := schemaForm{properties: s.Properties}
	for _, p := range s.Properties {
		if p.Required {
			all.required = append(all.required, p.Name)
		}
	}
	forms := []schemaForm{all}
	for _, p := range s.Properties {
		if p.Else != "" || p.With != "" || len(p.Without) > 0 {
			forms = chosen(p, forms)
		}
	}
	return forms
}

// chosen returns the forms without a property and those with it.
func chosen(p schema.Property, forms []schemaForm) []schemaForm {
	var all []schemaForm
	for _, f := range forms {
		without, with := f.but(p.Name, p.With), f.but(p.Without...)
		with.required = append(with.required, p.Name)
		if p.With != "" {
			with.required = append(with.required, p.With)
		}
		if p.Else != "" {
			without.required = append(without.required, p.Else)
		}
		all = append(all, without, with)
	}
	return all
}

// but returns a form without some properties.
func (f schemaForm) but(names ...string) schemaForm {
	gone := func(name string) bool { return slices.Contains(names, name) }
	return schemaForm{
		properties: slices.DeleteFunc(slices.Clone(f.properties), func(p schema.Property) bool { return gone(p.Name) }),
		required:   slices.DeleteFunc(slices.Clone(f.required), gone),
	}
}

// switched returns a form for each set of properties that a value of the switch
// allows.
func switched(s *schema.Schema) []schemaForm {
	by, _ := s.Property(s.Switch)
	var forms []schemaForm
	for _, chosen := range by.Schema.Enum {
		f := schemaForm{values: []string{chosen}}
		for _, p := range s.Properties {
			if !p.Exists(chosen) {
				continue
			}
			f.properties = append(f.properties, p)
			if p.Required || slices.Contains(p.Need, chosen) || p.Name == s.Switch && chosen != "" {
				f.required = append(f.required, p.Name)
			}
		}
		same := slices.IndexFunc(forms, func(other schemaForm) bool {
			return slices.EqualFunc(f.properties, other.properties, sameProperty) && slices.Equal(f.required, other.required)
		})
		if same >= 0 {
			forms[same].values = append(forms[same].values, chosen)
		} else {
			forms = append(forms, f)
		}
	}
	return forms
}

func sameProperty(p, q schema.Property) bool { return p.Name == q.Name && p.Schema == q.Schema }

// form returns the schema of an object in a given form.
func (c *components) form(s *schema.Schema, f schemaForm) *openapi3.Schema {
	d := openapi3.NewObjectSchema()
	d.Nullable = s.Nullable
	for _, p := range f.properties {
		ref := c.ref(p.Schema)
		if p.Name == s.Switch {
			chosen := *p.Schema
			chosen.Enum = f.values
			ref = c.ref(&chosen)
		}
		d.WithPropertyRef(p.Name, ref)
	}
	d.Required = f.required
	if s.Values == nil {
		return d.WithoutAdditionalProperties()
	}
	d.AdditionalProperties = openapi3.AdditionalProperties{Schema: c.ref(s.Values)}
	return d
}
