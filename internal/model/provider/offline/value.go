package offline

import (
	"strings"
)

// earlierText returns the results of the newest step, and whether they are
// complete.
func (m *moment) earlierText() (text string, whole bool) {
	if len(m.done) == 0 {
		return "", true
	}
	newest := m.done[len(m.done)-1]
	var values []string
	whole = true
	for i, c := range newest.calls {
		v, all := value(c.Tool, newest.results[i].Text)
		values = append(values, v)
		whole = whole && all
	}
	return strings.Join(values, "\n"), whole
}

// value returns the part of a result that later steps use, and whether it is
// complete.
func value(tool, result string) (text string, whole bool) {
	switch tool {
	case "time": // a line for programs, then a line for people
		first, _, _ := strings.Cut(result, "\n")
		return first, true
	case "calc": // a number, then perhaps "(rounded)"
		first, _, _ := strings.Cut(result, " ")
		return first, !strings.HasSuffix(first, "…")
	case "read_file":
		return fileText(result)
	default:
		return result, true
	}
}

// The format of a read_file result: numbered lines, and an optional note.
var (
	numberedLine = lazy(`^ *\d+\t`)
	lineNote     = lazy(`(?s)^(?:(.*)\n)?\[([^\n]*)\]$`)
)

// fileText removes the line numbers and the note from a read_file result. The
// text is complete if it is byte-identical to the file, or to all requested
// lines of it.
func fileText(result string) (text string, whole bool) {
	result = strings.TrimSuffix(result, "\n")
	note := ""
	if m := lineNote().FindStringSubmatch(result); m != nil {
		result, note = m[1], m[2]
	}
	if note == "the file is empty" {
		return "", true
	}
	if !numberedLine().MatchString(result) {
		return result, note == ""
	}
	lines := strings.Split(result, "\n")
	for i, line := range lines {
		lines[i] = numberedLine().ReplaceAllString(line, "")
	}
	text = strings.Join(lines, "\n") + "\n"
	if note == "the last line has no line end" {
		return strings.TrimSuffix(text, "\n"), true
	}
	return text, note == "" && !strings.Contains(text, " more bytes in this line]")
}
