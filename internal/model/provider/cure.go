package provider

import (
	"fmt"
	"time"

	"chela"
)

// Remedy returns a remedy as one imperative clause; "" if none is known.
func Remedy(e *chela.ProviderError) string {
	switch {
	case e.Overflow:
		return "send less, or use a model with a larger window: chela models list"
	case e.Kind == chela.Denied:
		return fmt.Sprintf("check providers.%s.api_key: chela config get providers.%[1]s.api_key", e.Provider)
	case e.Kind == chela.NotFound:
		return "chela models list shows the models of " + e.Provider
	case e.Kind == chela.Exhausted && !e.Retryable:
		return fmt.Sprintf("check the account at %s: its credit or quota is used up", e.Provider)
	case e.After > 0:
		return "try again in " + spanText(e.After)
	case e.Kind == chela.Unavailable && e.Status == 0 && !e.Cut:
		return fmt.Sprintf("check providers.%s.base_url and the network", e.Provider)
	case e.Retryable:
		return "try again later"
	case e.Kind == chela.Unsupported && e.Status/100 == 2:
		return fmt.Sprintf("check [providers.%s]: its base_url or kind may not match the server", e.Provider)
	case e.Kind == chela.Unsupported:
		return "use another model: chela models list"
	default:
		return ""
	}
}

// spanText formats a waiting time in words, rounded up.
func spanText(d time.Duration) string {
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
