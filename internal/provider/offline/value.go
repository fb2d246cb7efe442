package offline

import (
	"strings"
)

// earlierText returns what the calls of the newest step returned, and whether
// that is all there is.
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

// value returns the part of a result that a later step works with, and whether
// it is whole.
func value(tool, result string) (text string, whole bool) {
	switch tool {
	case "time": // a line for programs, then one for people
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

// The form of a result of read_file: numbered lines, and perhaps a note.
var (
	numberedLine = lazy(`^ *\d+\t`)
	lineNote     = lazy(`(?s)^(?:(.*)\n)?\[([^\n]*)\]$`)
)

// fileText takes the line numbers and the note off a result of read_file. The
// text is whole if it is the file byte by byte, or all lines of it that were
// asked for.
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
