package edge

import (
	"errors"
	"testing"
	"time"

	"chela"
)

// TestRetryAfter: a refusal says after how many whole seconds to come again, one at
// least.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	slow := &chela.ProviderError{Kind: chela.Exhausted, After: 90 * time.Second}
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"another error":                  {errors.New("no"), 1},
		"a refusal":                      {Refusal{Err: errors.New("no"), After: 2500 * time.Millisecond}, 3},
		"a refusal without a time":       {Refusal{Err: errors.New("no")}, 1},
		"a provider":                     {slow, 90},
		"a provider without a time":      {&chela.ProviderError{Kind: chela.Exhausted}, 1},
		"a refusal of a provider":        {Refusal{Err: slow, After: time.Second}, 1},
		"one of a provider without time": {Refusal{Err: slow}, 90},
	} {
		if got := retryAfter(c.err); got != c.want {
			t.Errorf("%s: after %d s, want %d", name, got, c.want)
		}
	}
}
