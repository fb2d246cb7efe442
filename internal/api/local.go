package api

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"chela"
)

// A Local carries requests out within the process: it is a connection to bound
// operations, for one caller.
type Local struct {
	Operations []Bound
	Caller     Caller
}

// Do carries a request out. An operation that is not bound is Unsupported.
func (l Local) Do(ctx context.Context, r Request, out any) error {
	for _, b := range l.Operations {
		if b.Name != r.Name {
			continue
		}
		answer, err := b.Serve(ctx, l.Caller, Arguments{
			Path: func(name string) string { return r.Values[name] }, Query: r.Query,
			Body: func(into any) error { return copyJSON(r.Body, into) },
		})
		if err == nil {
			reflect.ValueOf(out).Elem().Set(reflect.ValueOf(answer))
		}
		return err
	}
	return chela.E(chela.Unsupported, "the operation "+r.Name+" is not available here")
}

// copyJSON copies a value by the JSON of it. Nil leaves the destination as it is.
func copyJSON(from, into any) error {
	if from == nil {
		return nil
	}
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("copy an input: %w", err)
	}
	return nil
}
