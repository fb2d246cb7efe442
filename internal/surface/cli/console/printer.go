package console

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-isatty"

	"chela/internal/surface/terminal"
)

// A Printer writes a command's output in the requested format.
type Printer struct {
	*terminal.Screen
	JSON bool // one JSON document instead of a table

	sink *terminal.Sink
}

// NewPrinter returns a printer that writes to out and err.
func NewPrinter(out, err io.Writer) *Printer {
	s := terminal.NewSink(out)
	onTerminal := IsTerminal(err)
	return &Printer{
		Screen: &terminal.Screen{Out: s, Err: err, OutTerminal: IsTerminal(out), ErrTerminal: onTerminal, Color: onTerminal},
		sink:   s,
	}
}

// Lost returns the first error of writing the output, if any.
func (p *Printer) Lost() error { return p.sink.Err() }

// IsTerminal reports whether a reader or writer is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && isatty.IsTerminal(f.Fd())
}

// Document writes v as one JSON document.
func (p *Printer) Document(v any) error {
	text, err := marshal(v, "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	p.Text(text)
	return nil
}

// Compact writes v as one line of JSON.
func (p *Printer) Compact(v any) error {
	text, err := marshal(v, "")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	p.Text(text)
	return nil
}

// marshal returns v as JSON that ends its line.
func marshal(v any, indent string) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.String(), err
}

// None prints a note beside the result that a list is empty if n is 0 and
// people read the output, and reports whether it did.
func (p *Printer) None(n int, said string) bool {
	if n > 0 || p.JSON {
		return false
	}
	p.Note(said)
	return true
}

// List writes items as one JSON document, or as a table.
func List[T any](p *Printer, items []T, head []string, row func(T) []string) error {
	if p.JSON {
		if items == nil {
			items = []T{}
		}
		return p.Document(items)
	}
	rows := make([][]string, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	p.Table(head, rows)
	return nil
}
