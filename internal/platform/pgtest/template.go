package pgtest

import (
	"fmt"
	"sync"
	"testing"
)

// A Template is a database on the shared server that is filled once and then
// copied, which takes a fraction of the time.
type Template struct {
	filled func() (database string, err error)
}

// NewTemplate returns a template that fill populates on first use, given the
// URL of an empty database. Fill must leave no connection open.
func NewTemplate(fill func(url string) error) *Template {
	return &Template{filled: sync.OnceValues(func() (string, error) {
		c, err := shared()
		if err != nil {
			return "", err
		}
		name, err := c.make("template1")
		if err == nil {
			err = fill(c.url(name))
		}
		if err != nil {
			return "", fmt.Errorf("fill a template: %w", err)
		}
		return name, nil
	})}
}

// URL returns the URL of a copy of the template that is dropped when t ends.
// Like [URL] it skips or fails t without PostgreSQL.
func (m *Template) URL(t testing.TB) string {
	t.Helper()
	name, err := m.filled()
	check(t, err)
	c, err := shared()
	check(t, err)
	return c.copy(t, name)
}
