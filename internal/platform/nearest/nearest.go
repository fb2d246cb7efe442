// Package nearest makes did-you-mean suggestions by edit distance.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// longest limits the length of a word, in bytes.
const longest = 100

// Names returns up to most of the names closest to word, best first, ignoring
// case. A name is close if at most two letters or a third of them differ, or if
// one contains the other.
func Names(word string, names []string, most int) []string {
	if len(word) > longest {
		return nil
	}
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	want := strings.ToLower(word)
	for _, n := range names {
		got := strings.ToLower(n)
		far := Distance(want, got)
		if far > max(2, len(want)/3, len(got)/3) {
			if want == "" || !strings.Contains(got, want) && !strings.Contains(want, got) {
				continue
			}
		}
		near = append(near, candidate{n, far})
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	near = near[:min(len(near), most)]
	found := make([]string, len(near))
	for i, c := range near {
		found[i] = c.name
	}
	return found
}

// Name returns the name closest to word, or "" if no name is close enough: at
// most a third of the letters of word may differ, and at least one.
func Name(word string, names []string) string {
	for _, best := range Names(word, names, 1) {
		if Distance(word, best) <= len(word)/3+1 {
			return best
		}
	}
	return ""
}

// Distance is the number of single bytes that must be inserted, deleted,
// replaced or swapped with a neighbour to turn a into b, where no byte is
// edited twice (optimal string alignment).
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
