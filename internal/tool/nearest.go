package tool

import (
	"cmp"
	"slices"
	"strings"
)

// nearest returns up to most of names that name may have meant, best first. A
// name is near if at most two letters or a third of them differ (edit distance),
// or if one contains the other.
func nearest(name string, names []string, most int) []string {
	if len(name) > 64 {
		return nil
	}
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	want := strings.ToLower(name)
	for _, n := range names {
		got := strings.ToLower(n)
		far := distance(want, got)
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

// distance is the Levenshtein distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
