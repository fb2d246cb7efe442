package rule

import (
	"slices"
	"testing"
)

// TestWordsAtTheBeginning: a piece of a word at the beginning of a text is no word,
// where the word would have begun before the text.
func TestWordsAtTheBeginning(t *testing.T) {
	t.Parallel()
	x := newWordIndex()
	x.add("abcdef", 0)
	x.add("abcxyz", 1) // is indexed under a later piece, as its first one is shared
	for text, want := range map[string][]bool{
		"bcxyz": {false, false}, "bcxyz abcxyz": {false, true}, "abcdef": {true, false}, "abcxyzabcdef": {true, true}, "abcxy": {false, false},
	} {
		found := make([]bool, 2)
		x.find(text, found)
		if !slices.Equal(found, want) {
			t.Errorf("%q: found %v, want %v", text, found, want)
		}
	}
}
