package gateway

import (
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// found writes what a method of the home returned.
func found[T any](v *edge.Visit, answer T, err error) error {
	if err != nil {
		return err
	}
	return v.OK(answer)
}

// listed writes what a method of the home returned as a page with all of it.
func listed[T any](v *edge.Visit, items []T, err error) error {
	if err != nil {
		return err
	}
	if items == nil {
		items = []T{}
	}
	return v.OK(api.Page[T]{Items: items})
}

// done answers that something was done.
func done(v *edge.Visit, err error) error {
	if err != nil {
		return err
	}
	return v.Nothing()
}
