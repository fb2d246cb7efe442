package terminal

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Table writes rows of values under a head, one line for each. The columns of the
// head are separated by tabs. Cells are truncated to keep the table readable.
func (s *Screen) Table(head string, rows [][]any) {
	s.aligned(func(w *tabwriter.Writer) {
		fmt.Fprintln(w, head)
		for _, row := range rows {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = OneLine(shown(v), 100)
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
	})
}

// Fields writes names, each followed by its value, one line for each pair; empty
// values are left out.
func (s *Screen) Fields(pairs ...any) {
	s.aligned(func(w *tabwriter.Writer) {
		for pair := range slices.Chunk(pairs, 2) {
			if value := shown(pair[1]); value != "" {
				fmt.Fprintf(w, "%s\t%s\n", pair[0], OneLine(value, 1000))
			}
		}
	})
}

// shown is the text of a value; the zero time has none.
func shown(v any) string {
	if at, ok := v.(time.Time); ok {
		return Moment(at)
	}
	return fmt.Sprint(v)
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
