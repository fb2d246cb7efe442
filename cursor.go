package chela

import (
	"cmp"
	"strconv"
	"strings"
)

// A Cursor is a position in a home's stream of durable events: the transaction,
// row and index within the row of the newest event seen. A reader passes it to
// receive the events after it. The empty cursor is no position.
type Cursor string

// NewCursor returns the cursor of the event at index place of a row.
func NewCursor(tx, row int64, place int) Cursor {
	return Cursor(strconv.FormatInt(tx, 10) + "." + strconv.FormatInt(row, 10) + "." + strconv.Itoa(place))
}

// Parts splits a cursor into its components. A malformed cursor is an Invalid
// error.
func (c Cursor) Parts() (tx, row int64, place int, err error) {
	var parts [3]int64
	rest := string(c)
	for i := range parts {
		text, after, more := strings.Cut(rest, ".")
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || more != (i < 2) || i == 2 && n > 1<<31-1 {
			return 0, 0, 0, Ef(Invalid, "%.60q is not a cursor", string(c)).WithHint("use the id of a received event, or leave it out")
		}
		parts[i], rest = n, after
	}
	return parts[0], parts[1], int(parts[2]), nil
}

// Compare orders two well-formed cursors, like cmp.Compare.
func (c Cursor) Compare(d Cursor) int {
	tx, row, place, _ := c.Parts()
	otherTx, otherRow, otherPlace, _ := d.Parts()
	return cmp.Or(cmp.Compare(tx, otherTx), cmp.Compare(row, otherRow), cmp.Compare(place, otherPlace))
}
