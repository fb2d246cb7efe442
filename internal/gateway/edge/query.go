package edge

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
)

// ask takes the query of a route under /api apart. The others are asked by
// programs that were made for others, which may add what they like.
func (v *Visit) ask(row *Route) error {
	if v.Request.URL.RawQuery == "" || !strings.HasPrefix(row.Path, "/api/") {
		return nil
	}
	query, err := url.ParseQuery(v.Request.URL.RawQuery)
	if err != nil {
		return chela.E(chela.Invalid, "the query is not well-formed").Because(err)
	}
	if err := checkQuery(query, row.Query); err != nil {
		return err
	}
	v.Query = query
	return nil
}

// maxValue is how many bytes a value in a query may have.
const maxValue = 1024

// checkQuery refuses parameters that a route does not have: what is misspelt
// must not be ignored.
func checkQuery(query url.Values, known []api.Parameter) error {
	for name, values := range query {
		switch {
		case !slices.ContainsFunc(known, func(p api.Parameter) bool { return p.Name == name }):
			return chela.E(chela.Invalid, fmt.Sprintf("there is no parameter %.60q here", name)).WithHint("see /api/openapi.json for what there is")
		case len(values) > 1:
			return chela.E(chela.Invalid, fmt.Sprintf("parameter %s is there twice", name))
		case len(values[0]) > maxValue:
			return chela.E(chela.Invalid, fmt.Sprintf("parameter %s has more than %d bytes", name, maxValue))
		case !utf8.ValidString(values[0]) || strings.ContainsFunc(values[0], unicode.IsControl):
			return chela.E(chela.Invalid, fmt.Sprintf("parameter %s is not text", name))
		}
	}
	return nil
}

// Number returns a number of the query that lies between 0 and limit, or
// otherwise if it is not there.
func (v *Visit) Number(name string, otherwise, limit int64) (int64, error) {
	given := v.Query.Get(name)
	if given == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(given, 10, 64)
	if err != nil || n < 0 || n > limit {
		return 0, chela.E(chela.Invalid, fmt.Sprintf("parameter %s is %.40q, not a number from 0 to %d", name, given, limit))
	}
	return n, nil
}

// Flag returns a truth of the query; false if it is not there.
func (v *Visit) Flag(name string) (bool, error) {
	switch given := v.Query.Get(name); given {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	default:
		return false, chela.E(chela.Invalid, fmt.Sprintf("parameter %s is %.40q, not true or false", name, given))
	}
}

// Rows returns how many rows of a page are asked for.
func (v *Visit) Rows() (int, error) {
	n, err := v.Number("limit", 100, api.MaxPage)
	if err == nil && n == 0 {
		err = chela.E(chela.Invalid, fmt.Sprintf("parameter limit is 0, not a number from 1 to %d", api.MaxPage))
	}
	return int(n), err
}

// Page makes a page of up to limit rows out of one more, if there are more.
func Page[T any](rows []T, limit int, cursor func(T) string) api.Page[T] {
	if len(rows) <= limit {
		return api.Page[T]{Items: append([]T{}, rows...)} // never null
	}
	return api.Page[T]{Items: rows[:limit], Next: cursor(rows[limit-1])}
}
