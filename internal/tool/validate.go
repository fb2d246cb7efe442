package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"chela"
)

// maxSchemaParts bounds a schema written by a model, with every reference
// counted once per use: validation costs at most this per value.
const maxSchemaParts = 10_000

// Validate checks value against an untrusted schema and returns the violations,
// one line each. It fails with Invalid if either is not JSON, or if the schema
// does not compile, refers outside itself or to itself, or is too large.
func Validate(schemaText, value json.RawMessage) ([]string, error) {
	v, err := decodeModest(value)
	if err != nil {
		return nil, chela.E(chela.Invalid, "cannot read the value").Because(err)
	}
	doc, err := decodeModest(schemaText)
	if err != nil {
		return nil, chela.E(chela.Invalid, "cannot read the schema").Because(err)
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, chela.E(chela.Invalid, "the schema is not an object")
	}
	budget := maxSchemaParts
	if err := (coercer{root: object}).spend(object, &budget); err != nil {
		return nil, chela.E(chela.Invalid, "cannot use the schema").Because(err)
	}
	sch, err := compile(chela.Tool{Name: "given", Input: schemaText})
	if err != nil {
		return nil, chela.E(chela.Invalid, "the schema is not a JSON Schema").Because(errors.Unwrap(err))
	}
	return sch.problems(v), nil
}

// spend subtracts the parts of a schema from budget, following references.
func (c coercer) spend(part any, budget *int) error {
	if *budget--; *budget < 0 {
		return errors.New("it is too large, or refers to itself")
	}
	switch part := part.(type) {
	case []any:
		for _, item := range part {
			if err := c.spend(item, budget); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, item := range part {
			if key == "$dynamicRef" || key == "$recursiveRef" {
				return fmt.Errorf("%s is not supported", key)
			}
			if err := c.spend(item, budget); err != nil {
				return err
			}
		}
		return c.spendRef(part, budget)
	}
	return nil
}

// spendRef subtracts the parts behind a reference from budget.
func (c coercer) spendRef(part map[string]any, budget *int) error {
	ref, ok := part["$ref"].(string)
	if !ok {
		return nil
	}
	if !strings.HasPrefix(ref, "#/") {
		return fmt.Errorf("it refers to %s; only references of the form #/$defs/name are followed", quote(ref))
	}
	target := c.resolve(map[string]any{"$ref": ref})
	return c.spend(target, budget)
}
