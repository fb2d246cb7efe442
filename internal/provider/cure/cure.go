// Package cure says what people can do about a request that a provider did not
// fulfil.
package cure

import (
	"fmt"
	"time"

	"chela"
)

// Of returns one imperative clause on how to cure what a provider said, or "" if
// nothing is known.
func Of(e *chela.ProviderError) string {
	switch {
	case e.Overflow:
		return "send less, or use a model with a larger window: chela models list"
	case e.Kind == chela.Denied:
		return fmt.Sprintf("look at providers.%s.api_key: chela config get providers.%[1]s.api_key", e.Provider)
	case e.Kind == chela.NotFound:
		return "chela models list shows the models of " + e.Provider
	case e.Kind == chela.Exhausted && !e.Retryable:
		return fmt.Sprintf("look at the account with %s: it has nothing left", e.Provider)
	case e.After > 0:
		return "try again in " + span(e.After)
	case e.Kind == chela.Unavailable && e.Status == 0 && !e.Cut:
		return fmt.Sprintf("look at providers.%s.base_url and at the network", e.Provider)
	case e.Retryable:
		return "try again later"
	case e.Kind == chela.Unsupported && e.Status/100 == 2:
		return fmt.Sprintf("look at [providers.%s]: its base_url or kind may not be what the server speaks", e.Provider)
	case e.Kind == chela.Unsupported:
		return "use another model: chela models list"
	default:
		return ""
	}
}

// span is a time to wait in words, rounded up.
func span(d time.Duration) string {
	unit, word := time.Hour, "hour"
	switch {
	case d <= 2*time.Minute:
		unit, word = time.Second, "second"
	case d <= 2*time.Hour:
		unit, word = time.Minute, "minute"
	}
	n := (d-1)/unit + 1
	if n == 1 {
		return "a " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
