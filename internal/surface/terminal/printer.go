package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-isatty"
)

// A Printer writes a command's output in the requested format.
type Printer struct {
	*Screen
	JSON bool // one JSON document instead of a table

	sink *sink
}

// NewPrinter returns a printer that writes to out and err.
func NewPrinter(out, err io.Writer) *Printer {
	s := newSink(out)
	onTerminal := IsTTY(err)
	return &Printer{
		Screen: &Screen{Out: s, Err: err, OutTerminal: IsTTY(out), ErrTerminal: onTerminal, Color: onTerminal},
		sink:   s,
	}
}

// Lost returns the first error of writing the output, if any.
func (p *Printer) Lost() error { return p.sink.Err() }

// IsTTY reports whether a reader or writer is a terminal.
func IsTTY(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && isatty.IsTerminal(f.Fd())
}

// Document writes v as one JSON document.
func (p *Printer) Document(v any) error { return p.marshal(v, "  ") }

// Compact writes v as one line of JSON.
func (p *Printer) Compact(v any) error { return p.marshal(v, "") }

// marshal writes v as JSON that ends its line.
func (p *Printer) marshal(v any, indent string) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	p.Text(b.String())
	return nil
}
