package edge

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/schema"
)

// limits are the schemas of a route's parameters and body. The description of
// the route is generated from them too.
type limits struct {
	names, query, headers []parameter
	body                  *schema.Schema // nil if any body of the media type is accepted
}

type parameter struct {
	api.Parameter
	schema *schema.Schema
}

// limitsOf returns the limits that a route declares. It is Internal if the
// declaration is wrong.
func limitsOf(r api.Route) (l limits, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("limits of %s %s: %w", r.Method, r.Path, err)
		}
	}()
	parameters := func(list []api.Parameter) (all []parameter) {
		for _, p := range list {
			made, broken := p.Schema()
			all, err = append(all, parameter{p, made}), cmp.Or(err, broken)
		}
		return all
	}
	if l = (limits{names: parameters(r.Names()), query: parameters(r.Query), headers: parameters(r.AllHeaders())}); err != nil {
		return l, err
	}
	taken := r.Body
	if r.Status == http.StatusSwitchingProtocols {
		taken = r.Answer // the frames, either way
	}
	if _, byHand := taken.(api.SchemaDocument); taken == nil || byHand {
		return l, nil
	}
	l.body, err = api.Schemas().Of(taken)
	return l, err
}

// ask validates the parameters of a request. Routes outside /api accept unknown
// ones, because their clients may add any.
func (v *Visit) ask(row *Route) error {
	limits, err := row.limits()
	if err != nil {
		return err
	}
	for _, p := range limits.names {
		if err := p.schema.Text("the "+p.Name+" in the path", v.Request.PathValue(p.Name)); err != nil {
			return err
		}
	}
	for _, p := range limits.headers {
		values := v.Request.Header.Values(p.Name)
		if len(values) > 1 {
			return chela.E(chela.Invalid, fmt.Sprintf("header %s occurs twice", p.Name))
		}
		if len(values) == 1 {
			if err := p.schema.Text("header "+p.Name, values[0]); err != nil {
				return err
			}
		}
	}
	if !strings.HasPrefix(row.Path, "/api/") {
		return nil
	}
	query, err := url.ParseQuery(v.Request.URL.RawQuery)
	if err != nil {
		return chela.E(chela.Invalid, "the query is not well-formed").Because(err)
	}
	if err := checkQuery(query, limits.query); err != nil {
		return err
	}
	v.Query = query
	return nil
}

// checkQuery refuses a query that does not fit the parameters of a route,
// including unknown ones: a misspelt parameter must not be ignored.
func checkQuery(query url.Values, known []parameter) error {
	for _, p := range known {
		values, ok := query[p.Name]
		switch {
		case !ok && p.Required:
			return chela.E(chela.Invalid, fmt.Sprintf("parameter %s is missing", p.Name)).WithHint("add ?" + p.Name + "= to the address")
		case !ok:
			continue
		case len(values) > 1:
			return chela.E(chela.Invalid, fmt.Sprintf("parameter %s occurs twice", p.Name))
		case !utf8.ValidString(values[0]):
			return chela.E(chela.Invalid, fmt.Sprintf("parameter %s is not text", p.Name))
		}
		if err := p.schema.Text("parameter "+p.Name, values[0]); err != nil {
			return err
		}
	}
	for name := range query {
		if !slices.ContainsFunc(known, func(p parameter) bool { return p.Name == name }) {
			return chela.E(chela.Invalid, fmt.Sprintf("there is no parameter %.60q here", name)).WithHint("see /api/openapi.json for what there is")
		}
	}
	return nil
}

// Flag returns a boolean of the query; false if it is missing.
func (v *Visit) Flag(name string) bool { return v.Query.Get(name) == "true" }
