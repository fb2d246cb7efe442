package table

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"chela/bench/load/measure"
)

// A row is one line of the table.
type row struct {
	what   string
	unit   string
	target string // "≤" or "≥", or empty where none is set
	limit  float64
	cells  []cell // one for each place
}

// A cell is what was measured in one place.
type cell struct {
	value    float64
	measured bool
	more     string // what the value is made of, or why there is none
}

// found is a row of one place.
func found(what string, value float64, unit string) row {
	return row{what: what, unit: unit, cells: []cell{{value: value, measured: true}}}
}

func (r row) atMost(limit float64) row {
	r.target, r.limit = "≤", limit
	return r
}

func (r row) atLeast(limit float64) row {
	r.target, r.limit = "≥", limit
	return r
}

// with says what the value is made of.
func (r row) with(format string, args ...any) row {
	r.cells = slices.Clone(r.cells)
	r.cells[0].more = fmt.Sprintf(format, args...)
	return r
}

// missing is a row without a value.
func missing(what string, err error) row {
	return row{what: what, cells: []cell{{more: "failed: " + strings.Join(strings.Fields(err.Error()), " ")}}}
}

// misses reports whether the first place has a value that does not meet the
// target, or could not be measured. The targets are those of the first place;
// what they are for others is a row of its own.
func (r row) misses() bool {
	if !r.cells[0].measured {
		return r.cells[0].more != ""
	}
	switch v := r.cells[0].value; r.target {
	case "≤":
		return v > r.limit
	case "≥":
		return v < r.limit
	default:
		return false
	}
}

// side puts the rows of the next place beside those of n places before it.
func side(rows, next []row, n int) []row {
	for _, add := range next {
		at := slices.IndexFunc(rows, func(r row) bool { return r.what == add.what })
		if at < 0 {
			rows = append(rows, row{what: add.what, target: add.target, limit: add.limit})
			at = len(rows) - 1
		}
		rows[at].unit = add.unit
		rows[at].cells = append(padded(rows[at].cells, n), add.cells...)
	}
	return rows
}

func padded(cells []cell, n int) []cell {
	return append(cells, make([]cell, max(n-len(cells), 0))...)
}

// printTable writes rows as a table in Markdown.
func printTable(w io.Writer, places []string, rows []row) {
	fmt.Fprintf(w, "| measured | %s | target | |\n|---%s|---|---|\n", strings.Join(places, " | "), strings.Repeat("|---", len(places)))
	for _, r := range rows {
		target, verdict := "", ""
		if r.target != "" {
			target = r.target + " " + measure.Number(r.limit)
		}
		switch {
		case r.misses():
			verdict = "missed"
		case r.target != "" && r.cells[0].measured:
			verdict = "ok"
		}
		var values []string
		for _, c := range padded(r.cells, len(places)) {
			values = append(values, c.text(r.unit))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", r.what, strings.Join(values, " | "), target, verdict)
	}
}

func (c cell) text(unit string) string {
	text := ""
	if c.measured {
		text = strings.TrimSpace(measure.Number(c.value) + " " + unit)
	}
	if c.more != "" {
		text += " (" + strings.ReplaceAll(c.more, "|", "/") + ")"
	}
	return strings.TrimSpace(text)
}
