// Package tomlfile parses a TOML file with source positions, and edits one
// value while everything else stays byte for byte, including comments and
// order.
package tomlfile

import (
	"bytes"
	"errors"
	"path/filepath"
	"strconv"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"chela"
)

// maxBytes limits a file. A large file of hand-written settings takes a few
// kilobytes.
const maxBytes = 256 << 10

// A File is a TOML file with the position of every element, which the decoder
// of the library does not report.
type File struct {
	Nodes []Node // in file order

	text []byte
}

// A Node is a section header, a pair, or an inline table. The members of an
// inline table follow it.
type Node struct {
	Kind  NodeKind
	Path  []string // path in the whole file; see [Place] for lists of sections
	Value any      // of a pair: string, int64, bool, [Decimal], []any, or [Foreign]
	Line  int      // from 1

	within     int // how many parts of Path come from the enclosing section or inline table
	first      int // the first byte of a pair's key
	start, end int // the bytes of a pair's value; of a header only where its line ends
}

// NodeKind is the kind of a node.
type NodeKind int

// The kinds of nodes.
const (
	Header NodeKind = iota // [path] or [[path]]
	Pair                   // key = value
	Inline                 // key = { … }, and a table in a list
)

// Decimal is a number with a decimal point, as written.
type Decimal string

// Foreign is a value of a kind that no setting accepts: a date, a table in a
// list.
type Foreign struct{}

// Parse parses a TOML file. Errors are Invalid and name file, line and column.
func Parse(name string, text []byte) (*File, error) {
	if len(text) > maxBytes {
		return nil, chela.Ef(chela.Invalid, "%s is larger than %d bytes", name, maxBytes).
			WithHint("remove everything that is not configuration")
	}
	// The decoder checks rules that the parser below ignores: duplicate keys,
	// and the forms of dates and numbers.
	var whole map[string]any
	if err := toml.Unmarshal(text, &whole); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return nil, broken(name, line, column, at.Error()[len("toml: "):])
		}
		return nil, broken(name, 1, 0, "it is not TOML")
	}
	w := walker{text: text, line: 1, places: map[string]int{}}
	w.parser.Reset(text)
	for w.parser.NextExpression() {
		w.expression(w.parser.Expression())
	}
	if w.parser.Error() != nil {
		return nil, broken(name, w.line, 0, "it is not TOML")
	}
	return &File{Nodes: w.nodes, text: text}, nil
}

func broken(name string, line, column int, why string) error {
	place := name + ":" + strconv.Itoa(line)
	if column > 0 {
		place += ":" + strconv.Itoa(column)
	}
	return chela.E(chela.Invalid, place+": "+why).WithHint("correct that line of " + filepath.Base(name))
}

// A walker visits the expressions of a file in order.
type walker struct {
	parser unstable.Parser
	text   []byte
	nodes  []Node

	section []string       // the last header's path
	places  map[string]int // how many [[…]] sections of a path there were

	counted int // bytes whose lines are counted
	line    int // line of that byte
}

// lineAt returns the line of a byte. Calls must ask for increasing offsets.
func (w *walker) lineAt(offset int) int {
	w.line += bytes.Count(w.text[w.counted:offset], []byte("\n"))
	w.counted = offset
	return w.line
}

func (w *walker) expression(e *unstable.Node) {
	if e.Kind == unstable.KeyValue {
		w.pair(e, w.section)
		return
	}
	path, first, last := w.key(e, nil)
	if e.Kind == unstable.ArrayTable {
		w.places[Join(path)]++
		path = append(path, Place(w.places[Join(path)]))
	}
	w.section = path
	w.nodes = append(w.nodes, Node{Kind: Header, Path: path, Line: w.lineAt(first), end: lineEnd(w.text, last)})
}

// key returns the path of a header or pair below above, and the first and last
// byte of its key.
func (w *walker) key(e *unstable.Node, above []string) (path []string, first, last int) {
	path = append(path, above...)
	first = -1
	for it := e.Key(); it.Next(); {
		part := it.Node()
		path = append(path, string(part.Data))
		if first < 0 {
			first = int(part.Raw.Offset)
		}
		last = int(part.Raw.Offset + part.Raw.Length)
	}
	return path, first, last
}

func (w *walker) pair(e *unstable.Node, above []string) {
	path, first, last := w.key(e, above)
	start := last
	for w.text[start] != '=' {
		start++
	}
	start++
	for w.text[start] == ' ' || w.text[start] == '\t' {
		start++
	}
	n := Node{
		Kind: Pair, Path: path, within: len(above), Line: w.lineAt(first),
		first: first, start: start, end: int(e.Raw.Offset + e.Raw.Length),
	}
	v := e.Value()
	switch v.Kind {
	case unstable.InlineTable:
		n.Kind = Inline
		w.nodes = append(w.nodes, n)
		w.inline(v, path)
	case unstable.Array:
		w.array(v, n)
	default:
		n.Value = scalar(v)
		w.nodes = append(w.nodes, n)
	}
}

func (w *walker) inline(table *unstable.Node, path []string) {
	for it := table.Children(); it.Next(); {
		w.pair(it.Node(), path)
	}
}

// array records a list of tables as sections, any other as one value.
func (w *walker) array(list *unstable.Node, n Node) {
	items := []any{}
	tables := 0
	for it := list.Children(); it.Next(); {
		if it.Node().Kind == unstable.InlineTable {
			tables++
		}
		items = append(items, scalar(it.Node()))
	}
	if tables == 0 || tables < len(items) {
		n.Value = items
		w.nodes = append(w.nodes, n)
		return
	}
	i := 0
	for it := list.Children(); it.Next(); {
		i++
		path := append(append([]string{}, n.Path...), Place(i))
		w.nodes = append(w.nodes, Node{Kind: Inline, Path: path, within: len(path), Line: n.Line})
		w.inline(it.Node(), path)
	}
}

func scalar(v *unstable.Node) any {
	switch v.Kind {
	case unstable.String:
		return string(v.Data)
	case unstable.Bool:
		return string(v.Data) == "true"
	case unstable.Integer:
		if n, err := strconv.ParseInt(string(v.Data), 0, 64); err == nil {
			return n
		}
	case unstable.Float:
		return Decimal(v.Data)
	}
	return Foreign{}
}
