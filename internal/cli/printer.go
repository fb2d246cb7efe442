package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mattn/go-isatty"

	"chela/internal/channel/terminal"
)

// A printer writes what a command has to say, in the form that was asked for.
type printer struct {
	*terminal.Screen
	json bool
	sink *sink
}

// A sink remembers the first error of a writer, so that a full disk is told
// once and not after every line.
type sink struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (s *sink) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}

func newPrinter(out, err io.Writer) *printer {
	s := &sink{w: out}
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

// table writes rows under a head, one line for each. Cells are cut to what
// leaves a table readable.
func (p *printer) table(head []string, rows [][]string) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = terminal.OneLine(cell, 100)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush() // a Builder takes everything
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(p.Out, strings.TrimRight(line, " \n"))
	}
}

// fields writes names and values, one line for each; empty values are left
// out.
func (p *printer) fields(pairs ...[2]string) {
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, pair := range pairs {
		if pair[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", pair[0], terminal.OneLine(pair[1], 1000))
		}
	}
	w.Flush() // the sink keeps the error
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
	p.table(head, rows)
	return nil
}
