package tomlfile

import (
	"bytes"
	"slices"

	"chela/internal/platform/lazyregexp"
)

// With returns the text of the file with the value at path changed to v, which
// is a string, int64, bool, Decimal or []any: in its place if it exists, else
// beside its siblings, else in a new section at the end. Some files are written
// in a form that a value cannot be added to; parse the result before using it.
func (f *File) With(path []string, v any) []byte {
	text, value := f.text, Literal(v)
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	for _, n := range f.Nodes {
		if n.Kind == Pair && slices.Equal(n.Path, path) {
			return splice(text, n.start, n.end, value)
		}
	}
	if out, ok := f.withinInline(path, value); ok {
		return out
	}
	section, last := path[:len(path)-1], path[len(path)-1:]
	if n, ok := f.neighbour(section); ok {
		line := Join(append(slices.Clone(n.Path[n.within:len(n.Path)-1]), last...)) + " = " + value
		return insertLine(text, lineEnd(text, n.end), line, newline)
	}
	for _, n := range f.Nodes {
		if n.Kind == Header && slices.Equal(n.Path, section) {
			return insertLine(text, n.end, Join(last)+" = "+value, newline)
		}
	}
	line := Join(last) + " = " + value
	if len(section) == 0 {
		return insertLine(text, len(preamble().Find(text)), line, newline)
	}
	gap := ""
	if len(bytes.TrimSpace(text)) > 0 {
		gap = newline
	}
	return insertLine(text, len(text), gap+"["+Join(section)+"]"+newline+line, newline)
}

// Without returns the text of the file without the value at path, and whether
// the file had it. The text is nil if the value is in an inline table, where it
// has no lines of its own.
func (f *File) Without(path []string) ([]byte, bool) {
	for _, n := range f.Nodes {
		if n.Kind != Pair || !slices.Equal(n.Path, path) {
			continue
		}
		begin := bytes.LastIndexByte(f.text[:n.first], '\n') + 1
		if len(bytes.TrimSpace(f.text[begin:n.first])) > 0 {
			return nil, true
		}
		return append([]byte{}, splice(f.text, begin, lineEnd(f.text, n.end), "")...), true // never nil
	}
	return nil, false
}

// withinInline adds a pair to the inline table nearest above path.
func (f *File) withinInline(path []string, value string) ([]byte, bool) {
	text := f.text
	for n := len(path) - 1; n > 0; n-- {
		for _, table := range f.Nodes {
			if table.Kind != Inline || table.end == 0 || !slices.Equal(table.Path, path[:n]) {
				continue
			}
			// First in the table: then the end of the table does not matter.
			entry := " " + Join(path[n:]) + " = " + value
			rest := bytes.TrimLeft(text[table.start+1:table.end], " \t\r\n")
			switch {
			case rest[0] != '}':
				entry += ","
			case text[table.start+1] == '}':
				entry += " "
			}
			return splice(text, table.start+1, table.start+1, entry), true
		}
	}
	return nil, false
}

// neighbour returns the last pair of a section that stands on a line of its
// own.
func (f *File) neighbour(section []string) (Node, bool) {
	inTable := map[string]bool{}
	for _, n := range f.Nodes {
		if n.Kind == Inline {
			inTable[Join(n.Path)] = true
		}
	}
	for _, n := range slices.Backward(f.Nodes) {
		if n.Kind == Header || n.end == 0 || inTable[Join(n.Path[:n.within])] {
			continue
		}
		if slices.Equal(n.Path[:len(n.Path)-1], section) {
			return n, true
		}
	}
	return Node{}, false
}

func splice(text []byte, start, end int, with string) []byte {
	return slices.Concat(text[:start], []byte(with), text[end:])
}

// lineEnd returns the byte after the line that holds offset.
func lineEnd(text []byte, offset int) int {
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// insertLine inserts a line at offset, which is the start of a line or the end
// of the text.
func insertLine(text []byte, offset int, line, newline string) []byte {
	if offset > 0 && text[offset-1] != '\n' {
		line = newline + line
	}
	return splice(text, offset, offset, line+newline)
}

// preamble is the comment at the top of a file, which an empty line ends.
var preamble = lazyregexp.New(`\A(#.*\n)+(\r?\n|\z)`)
