package terminal

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table writes rows under a head, one line for each. Cells are truncated to
// keep the table readable.
func (s *Screen) Table(head []string, rows [][]string) {
	s.aligned(func(w *tabwriter.Writer) {
		fmt.Fprintln(w, strings.Join(head, "\t"))
		for _, row := range rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = OneLine(cell, 100)
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
	})
}

// Fields writes names and values, one line for each; empty values are left
// out.
func (s *Screen) Fields(pairs ...[2]string) {
	s.aligned(func(w *tabwriter.Writer) {
		for _, pair := range pairs {
			if pair[1] != "" {
				fmt.Fprintf(w, "%s\t%s\n", pair[0], OneLine(pair[1], 1000))
			}
		}
	})
}

// aligned aligns the columns of fill's output and trims the ends of lines.
func (s *Screen) aligned(fill func(*tabwriter.Writer)) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fill(w)
	w.Flush() // a Builder never fails
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(s.Out, strings.TrimRight(line, " \n"))
	}
}
