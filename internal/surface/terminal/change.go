package terminal

import (
	"encoding/json"
	"fmt"
	"strings"

	"chela/internal/platform/excerpt"
)

// maxChange is the most lines that the start of a call shows of a change.
const maxChange = 20

// changeIn returns the path and the lines of a change of a text that the arguments of a
// call describe: a text with its replacement, or a diff. Other arguments have none.
func changeIn(args string) (path string, lines []string) {
	var is struct {
		Path  string  `json:"path"`
		Old   *string `json:"old_string"`
		New   string  `json:"new_string"`
		Patch string  `json:"patch"`
	}
	if json.Unmarshal([]byte(args), &is) != nil {
		return "", nil
	}
	switch {
	case is.Old != nil:
		lines = replaced(lined(*is.Old), lined(is.New))
	case is.Patch != "":
		lines = lined(is.Patch)
	default:
		return "", nil
	}
	if more := len(lines) - maxChange; more > 1 {
		lines = append(lines[:maxChange:maxChange], fmt.Sprintf("… %d more lines", more))
	}
	return OneLine(is.Path, 80), lines
}

// replaced returns a replacement as lines of a diff, without the lines at both ends that
// stay.
func replaced(from, to []string) (lines []string) {
	for len(from) > 0 && len(to) > 0 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	for len(from) > 0 && len(to) > 0 && from[len(from)-1] == to[len(to)-1] {
		from, to = from[:len(from)-1], to[:len(to)-1]
	}
	for _, l := range from {
		lines = append(lines, "-"+l)
	}
	for _, l := range to {
		lines = append(lines, "+"+l)
	}
	return lines
}

// lined returns the lines of a text.
func lined(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// bars shows lines below the start of a call.
func (r *Renderer) bars(lines []string) {
	for _, l := range lines {
		r.Note(outputBar + excerpt.Runes(l, 200))
	}
}
