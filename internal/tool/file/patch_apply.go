package file

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Apply returns content after hunks. The error names the hunk that does not fit
// and shows the nearest place; it has several lines and is written for the
// author of the diff.
func Apply(content string, hunks []Hunk) (string, error) {
	t := newText(content)
	drift, from := 0, 0 // offset of the lines so far; first line the next hunk may begin at
	for i, h := range hunks {
		at, fit, err := t.find(h, from, drift)
		if err != nil {
			return "", fmt.Errorf("hunk %d does not fit: %w", i+1, err)
		}
		from = t.replace(at, h, fit)
		if h.Start > 0 {
			drift = from - h.end()
		}
	}
	return t.String(), nil
}

// old returns the lines that the hunk expects in the file.
func (h Hunk) old() []string {
	var lines []string
	for _, l := range h.Lines {
		if l.Op != '+' {
			lines = append(lines, l.Text)
		}
	}
	return lines
}

// end returns the index after the lines that the hunk replaces, by the line
// numbers of the diff. A hunk without old lines has the number of the line
// before it.
func (h Hunk) end() int {
	if n := len(h.old()); n > 0 {
		return h.Start - 1 + n
	}
	return h.Start
}

// A text is a file in lines.
type text struct {
	lines []textLine
	end   string // line end of most lines
	ended bool   // the last line has one
}

type textLine struct{ text, end string }

func newText(content string) *text {
	t := &text{end: "\n", ended: content == "" || strings.HasSuffix(content, "\n")}
	if 2*strings.Count(content, "\r\n") > strings.Count(content, "\n") {
		t.end = "\r\n"
	}
	for line := range strings.SplitAfterSeq(content, "\n") {
		if line == "" {
			continue // after the last line end
		}
		body := strings.TrimSuffix(line, "\n")
		if body != line {
			body = strings.TrimSuffix(body, "\r")
		}
		t.lines = append(t.lines, textLine{body, line[len(body):]})
	}
	return t
}

func (t *text) String() string {
	var b strings.Builder
	for i, l := range t.lines {
		b.WriteString(l.text)
		switch last := i == len(t.lines)-1; {
		case last && !t.ended:
		case l.end == "":
			b.WriteString(t.end)
		default:
			b.WriteString(l.end)
		}
	}
	return b.String()
}

// A fit is how closely lines are compared.
type fit int

const (
	exactly     fit = iota
	sameButTail     // trailing blanks do not count
	sameWords       // indentation does not count either
)

// reduce returns the part of line that is compared.
func (f fit) reduce(line string) string {
	switch f {
	case sameButTail:
		return strings.TrimRight(line, " \t\r")
	case sameWords:
		return strings.TrimSpace(line)
	default:
		return line
	}
}

// find returns the index where h fits, at or after the line with index from.
func (t *text) find(h Hunk, from, drift int) (int, fit, error) {
	old := h.old()
	if len(old) == 0 {
		return t.findInsertion(h, from, drift)
	}
	for _, f := range []fit{exactly, sameButTail, sameWords} {
		places := t.places(old, from, f)
		if len(places) == 0 {
			continue
		}
		at, err := t.choose(places, h, drift)
		if _, ok := t.indentation(at, h); err == nil && f == sameWords && !ok {
			continue
		}
		return at, f, err
	}
	return 0, exactly, t.reject(h, old, from)
}

// findInsertion returns the index for a hunk that expects no lines.
func (t *text) findInsertion(h Hunk, from, drift int) (int, fit, error) {
	at := h.end() + drift
	switch {
	case len(t.lines) == 0:
		return 0, exactly, nil
	case h.Start > 0 && from <= at && at <= len(t.lines):
		return at, exactly, nil
	default:
		return 0, exactly, fmt.Errorf("it has no lines of the file around the new ones; add some, marked with a space")
	}
}

// choose selects the intended place: the one at the line number of the diff,
// the only one, or the first after the only line that the hint names.
func (t *text) choose(places []int, h Hunk, drift int) (int, error) {
	if expected := h.Start - 1 + drift; h.Start > 0 && slices.Contains(places, expected) {
		return expected, nil
	}
	if len(places) == 1 {
		return places[0], nil
	}
	if h.Hint != "" {
		hints := t.places([]string{h.Hint}, 0, sameWords)
		if len(hints) == 1 {
			if i, _ := slices.BinarySearch(places, hints[0]); i < len(places) {
				return places[i], nil
			}
		}
	}
	shown := make([]string, 0, 10)
	for _, at := range places[:min(len(places), 10)] {
		shown = append(shown, fmt.Sprint(at+1))
	}
	return 0, fmt.Errorf("its lines are found %d times, at lines %s; add lines around them, or the right line number", len(places), strings.Join(shown, ", "))
}

// places returns the indexes at or after from at which want is found
// (Knuth-Morris-Pratt: a long hunk of equal lines must not take long).
func (t *text) places(want []string, from int, f fit) []int {
	w := make([]string, len(want))
	for i, s := range want {
		w[i] = f.reduce(s)
	}
	back := make([]int, len(w)) // length of the longest border of w[:i+1]
	for i, k := 1, 0; i < len(w); i++ {
		for k > 0 && w[i] != w[k] {
			k = back[k-1]
		}
		if w[i] == w[k] {
			k++
		}
		back[i] = k
	}
	var found []int
	k := 0
	for i := from; i < len(t.lines); i++ {
		line := f.reduce(t.lines[i].text)
		for k > 0 && (k == len(w) || line != w[k]) {
			k = back[k-1]
		}
		if line == w[k] {
			k++
		}
		if k == len(w) {
			found = append(found, i-k+1)
		}
	}
	return found
}

// replace applies h at the line with index at and returns the index after it.
func (t *text) replace(at int, h Hunk, f fit) int {
	indent := reindent{}
	if f == sameWords {
		indent, _ = t.indentation(at, h)
	}
	var made []textLine
	next := at
	var oldOpen, newOpen bool // the last line is marked as having no line end
	for _, l := range h.Lines {
		switch l.Op {
		case '+':
			made = append(made, textLine{indent.apply(t.trimCR(l.Text)), t.end})
		case ' ':
			made = append(made, t.lines[next])
			next++
		default:
			next++
		}
		oldOpen = oldOpen || l.NoEnd && l.Op != '+'
		newOpen = newOpen || l.NoEnd && l.Op != '-'
	}
	t.lines = slices.Replace(t.lines, at, next, made...)
	switch {
	case newOpen:
		t.ended = false
	case oldOpen:
		t.ended = true
	}
	return at + len(made)
}

// trimCR strips the carriage return off a line of the diff if the file's own
// line ends add one.
func (t *text) trimCR(line string) string {
	if t.end == "\r\n" {
		return strings.TrimSuffix(line, "\r")
	}
	return line
}

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
	place := t.nearestPlace(old, from, "old lines")
	if place == "" {
		return fmt.Errorf("none of its old lines are in the file after line %d; read the file again", from)
	}
	return errors.New(place)
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
	return newText(content).nearestPlace(strings.Split(strings.TrimSuffix(want, "\n"), "\n"), 0, "lines")
}

func (t *text) nearestPlace(want []string, from int, what string) string {
	at, alike := t.nearest(want, from)
	if alike == 0 {
		return ""
	}
	return fmt.Sprintf("the nearest place is line %d, where %d of %d %s are alike. The file has there:\n%s", at+1, alike, len(want), what, t.show(at, len(want)))
}
