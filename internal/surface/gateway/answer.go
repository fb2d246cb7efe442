package gateway

import "chela/internal/surface/gateway/edge"

// found writes the result of a method of the home.
func found[T any](v *edge.Visit, answer T, err error) error {
	if err != nil {
		return err
	}
	return v.OK(answer)
}
