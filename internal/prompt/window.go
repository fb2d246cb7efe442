package prompt

import (
	"path"
	"strings"
)

// windows are those of models that are known by how their names begin, in
// tokens. The longest beginning counts.
var windows = map[string]int{
	"claude-": 200_000,
	"gpt-4o":  128_000,
	"gpt-4.1": 1_047_576,
	"gpt-5":   400_000,
	"gemini-": 1_048_576,
}

// WindowOf returns the window of a model by its name, which may come after a
// provider's; 0 if nothing is known of it.
func WindowOf(model string) int {
	name, known := path.Base(model), ""
	for begin := range windows {
		if strings.HasPrefix(name, begin) && len(begin) > len(known) {
			known = begin
		}
	}
	return windows[known]
}
