package api

import (
	"cmp"
	"fmt"
	"slices"

	"chela"
)

// Rows returns the number of rows of a page for the limit of a request.
func Rows(limit int) int { return cmp.Or(limit, UsualPage) }

// Paged makes a page of up to limit rows out of at least one more, if there are
// more. The cursor of a row is the value of ?after= for the page behind it.
func Paged[T any](rows []T, limit int, cursor func(T) string) Page[T] {
	limit = Rows(limit)
	if len(rows) <= limit {
		return Page[T]{Items: append([]T{}, rows...)} // never null
	}
	return Page[T]{Items: rows[:limit], Next: cursor(rows[limit-1])}
}

// Cut returns the page of a whole list that begins behind a cursor; an empty one is
// the beginning. A cursor that no row of the list has is NotFound.
func Cut[T any](all []T, after string, limit int, cursor func(T) string) (Page[T], error) {
	if after != "" {
		begin := slices.IndexFunc(all, func(row T) bool { return cursor(row) == after })
		if begin < 0 {
			return Page[T]{}, NoRow(after)
		}
		all = all[begin+1:]
	}
	return Paged(all, limit, cursor), nil
}

// NoRow is the error of a page that is to begin behind a row that does not exist.
func NoRow(after string) error {
	return chela.E(chela.NotFound, fmt.Sprintf("there is no row %.80q to go on from", after)).WithHint("begin with the first page, without after")
}

// Unknown returns NoRow where err says that the row of a cursor does not exist, and
// other errors unchanged.
func Unknown(after string, err error) error {
	if kind := chela.KindOf(err); err != nil && (kind == chela.NotFound || kind == chela.Invalid) {
		return NoRow(after)
	}
	return err
}
