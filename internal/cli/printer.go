package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-isatty"

	"chela/internal/channel/terminal"
)

// A printer writes what a command has to say, in the form that was asked for.
type printer struct {
	*terminal.Screen
	json bool
	sink *terminal.Sink
}

func newPrinter(out, err io.Writer) *printer {
	s := terminal.NewSink(out)
	onTerminal := isTerminal(err)
	return &printer{
		Screen: &terminal.Screen{Out: s, Err: err, OutTerminal: isTerminal(out), ErrTerminal: onTerminal, Color: onTerminal},
		sink:   s,
	}
}

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && isatty.IsTerminal(f.Fd())
}

// document writes v as one JSON document.
func (p *printer) document(v any) error {
	text, err := marshal(v, "  ")
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

// list writes items as one JSON document, or as a table.
func list[T any](p *printer, items []T, head []string, row func(T) []string) error {
	if p.json {
		if items == nil {
			items = []T{}
		}
		return p.document(items)
	}
	rows := make([][]string, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	p.Table(head, rows)
	return nil
}
