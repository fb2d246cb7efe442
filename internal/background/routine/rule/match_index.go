package rule

import "strings"

// gram is the length in bytes of the piece of a word that is indexed.
const gram = 3

// An wordIndex finds all of its words that occur in a text in one pass. Each word
// is represented by one piece of gram bytes; at almost every byte the filter
// rules out that a piece begins there.
type wordIndex struct {
	filter []uint64 // one bit per hash of a piece
	pieces map[[gram]byte][]wordEntry
}

// An wordEntry is a word, the offset of its piece and the trigger it belongs to.
type wordEntry struct {
	word    string
	after   int
	trigger int
}

func newWordIndex() wordIndex {
	return wordIndex{filter: make([]uint64, 1<<hashBits/64), pieces: map[[gram]byte][]wordEntry{}}
}

// hashBits makes a filter of 8 KiB, which fits into the L1 cache.
const hashBits = 16

func trigramHash(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> (32 - hashBits)
}

// add indexes a word of a trigger under its least shared piece.
func (x *wordIndex) add(word string, trigger int) {
	var best [gram]byte
	after := -1
	for i := range len(word) - gram + 1 {
		piece := [gram]byte([]byte(word[i : i+gram]))
		if after < 0 || len(x.pieces[piece]) < len(x.pieces[best]) {
			best, after = piece, i
		}
	}
	x.pieces[best] = append(x.pieces[best], wordEntry{word, after, trigger})
	bit := trigramHash(best[0], best[1], best[2])
	x.filter[bit/64] |= 1 << (bit % 64)
}

// find sets found for the triggers that have a word in a folded text.
func (x *wordIndex) find(text string, found []bool) {
	if len(x.pieces) == 0 {
		return
	}
	for i := gram; i <= len(text); i++ {
		a, b, c := text[i-3], text[i-2], text[i-1]
		if bit := trigramHash(a, b, c); x.filter[bit/64]&(1<<(bit%64)) == 0 {
			continue
		}
		for _, e := range x.pieces[[gram]byte{a, b, c}] {
			begin := i - gram - e.after
			if !found[e.trigger] && begin >= 0 && strings.HasPrefix(text[begin:], e.word) {
				found[e.trigger] = true
			}
		}
	}
}
