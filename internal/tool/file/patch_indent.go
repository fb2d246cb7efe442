package file

import (
	"fmt"
	"strings"
)

// A reindent corrects lines that were written with more or less indentation
// than their surroundings in the file.
type reindent struct {
	add, remove string
}

func (r reindent) apply(line string) string {
	if line == "" {
		return line
	}
	return r.add + strings.TrimPrefix(line, r.remove)
}

// indentation returns the change of indentation that makes h fit the lines at
// the index at, and false if no single one does.
func (t *text) indentation(at int, h Hunk) (reindent, bool) {
	var r reindent
	known := false
	next := at
	for _, l := range h.Lines {
		if l.Op == '+' {
			continue
		}
		have := t.lines[next].text
		next++
		if strings.TrimSpace(have) == "" {
			continue
		}
		this, ok := indentChange(leading(l.Text), leading(have))
		if !ok || known && this != r {
			return reindent{}, false
		}
		r, known = this, true
	}
	return r, true
}

func indentChange(wrote, have string) (reindent, bool) {
	if add, ok := strings.CutSuffix(have, wrote); ok {
		return reindent{add: add}, true
	}
	if remove, ok := strings.CutSuffix(wrote, have); ok {
		return reindent{remove: remove}, true
	}
	return reindent{}, false
}

func leading(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// Limits of the search for the nearest place, and of its excerpt.
const (
	maxCompared = 5_000_000 // line comparisons
	maxShown    = 12        // lines
	maxShownAt  = 160       // bytes of a line
)

// reject describes why h fits nowhere.
func (t *text) reject(h Hunk, old []string, from int) error {
	var added []string
	for _, l := range h.Lines {
		if l.Op != '-' {
			added = append(added, l.Text)
		}
	}
	if len(added) > len(old)/2 && len(t.places(added, 0, sameButTail)) > 0 {
		return fmt.Errorf("its old lines are not in the file, but its new ones are: the change seems to be there already")
	}
	at, alike := t.nearest(old, from)
	if alike == 0 {
		return fmt.Errorf("none of its old lines are in the file after line %d; read the file again", from)
	}
	return fmt.Errorf("the nearest place is line %d, where %d of %d old lines are alike. The file has there:\n%s", at+1, alike, len(old), t.show(at, len(old)))
}

// nearest returns the index at or after from with the longest ordered match of
// want, and the number of matching lines.
func (t *text) nearest(want []string, from int) (at, alike int) {
	if len(want)*len(t.lines) > maxCompared {
		want = want[:max(1, maxCompared/len(t.lines))]
	}
	for i := from; i < len(t.lines); i++ {
		n := 0
		for j := 0; j < len(want) && i+j < len(t.lines); j++ {
			if w := sameWords.reduce(want[j]); w != "" && w == sameWords.reduce(t.lines[i+j].text) {
				n++
			}
		}
		if n > alike {
			at, alike = i, n
		}
	}
	return at, alike
}

// show returns count lines from the index at, numbered.
func (t *text) show(at, count int) string {
	var b strings.Builder
	for i := at; i < min(at+min(count, maxShown), len(t.lines)); i++ {
		line := strings.ToValidUTF8(t.lines[i].text[:min(len(t.lines[i].text), maxShownAt)], "\uFFFD")
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Nearest describes the place in content with the longest ordered match of
// want, empty if no line matches.
func Nearest(content, want string) string {
	t := newText(content)
	lines := strings.Split(strings.TrimSuffix(want, "\n"), "\n")
	at, alike := t.nearest(lines, 0)
	if alike == 0 {
		return ""
	}
	return fmt.Sprintf("the nearest place is line %d, where %d of %d lines are alike. The file has there:\n%s", at+1, alike, len(lines), t.show(at, len(lines)))
}
