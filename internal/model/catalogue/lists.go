package catalogue

import (
	"cmp"
	_ "embed"
	"strconv"
	"strings"

	"chela"
)

// listsFile holds the rows of public price lists for models that models.toml does
// not have, or has in part. A test makes it from the lists in testdata: see
// TestLists.
//
//go:embed lists.tsv
var listsFile string

// The columns of lists.tsv. Prices are dollars per million tokens; an empty value
// is unknown. The long prices hold from 200,001 tokens of prompt on.
const (
	columnName = iota // provider/model
	columnInput
	columnOutput
	columnCacheRead
	columnCacheWrite
	columnLongInput
	columnLongOutput
	columnWindow
	columnMaxOutput
	columnAbilities // separated by commas
	columnSource    // the date and the name of the list
	columns
)

// longFrom is the threshold of long prompts in the lists.
const longFrom = 200_001

// addLists completes a layer by the rows of the public lists.
func addLists(l layer) error {
	for line := range strings.Lines(listsFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		r, name, err := listRow(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return err
		}
		l[name] = l[name].completed(r)
	}
	return nil
}

// listRow reads a row of lists.tsv.
func listRow(line string) (r Row, name string, err error) {
	cells := strings.Split(line, "\t")
	for at, to := range map[int]**chela.MicroUSD{
		columnInput: &r.Input, columnOutput: &r.Output, columnCacheRead: &r.CacheRead, columnCacheWrite: &r.CacheWrite,
		columnLongInput: &r.LongInput, columnLongOutput: &r.LongOutput,
	} {
		if cells[at] == "" {
			continue
		}
		amount, err := chela.ParseUSD(cells[at])
		if err != nil {
			return r, "", err
		}
		*to = &amount
	}
	if r.LongInput != nil {
		r.LongFrom = longFrom
	}
	for at, to := range map[int]*int{columnWindow: &r.Window, columnMaxOutput: &r.MaxOutput} {
		if cells[at] == "" {
			continue
		}
		if *to, err = strconv.Atoi(cells[at]); err != nil {
			return r, "", err
		}
	}
	if cells[columnAbilities] != "" {
		for a := range strings.SplitSeq(cells[columnAbilities], ",") {
			r.Abilities = append(r.Abilities, chela.Ability(a))
		}
	}
	r.Source = "catalogue, " + cells[columnSource]
	return r, cells[columnName], nil
}

// completed returns the row with the open values of another one. Rates of the
// prompt cache and of long prompts are completed only if both sources agree on the
// ordinary rates.
func (r Row) completed(other Row) Row {
	if r.Source == "" {
		return other
	}
	r.Window, r.MaxOutput = cmp.Or(r.Window, other.Window), cmp.Or(r.MaxOutput, other.MaxOutput)
	if r.Abilities == nil {
		r.Abilities = other.Abilities
	}
	same := func(a, b *chela.MicroUSD) bool { return a != nil && b != nil && *a == *b }
	if same(r.Input, other.Input) && same(r.Output, other.Output) {
		r.CacheRead, r.CacheWrite = cmp.Or(r.CacheRead, other.CacheRead), cmp.Or(r.CacheWrite, other.CacheWrite)
		if r.LongFrom == 0 {
			r.LongFrom, r.LongInput, r.LongOutput = other.LongFrom, other.LongInput, other.LongOutput
		}
	}
	return r
}
