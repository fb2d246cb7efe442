package matcher

import "strings"

// gram is how many bytes of a word its place in the index is made of.
const gram = 3

// An index finds in one pass which of its words a text holds. Of each word, one
// piece of gram bytes is looked for; the filter tells at nearly every byte that
// no piece begins there.
type index struct {
	filter []uint64 // a bit for each hash of a piece
	pieces map[[gram]byte][]entry
}

// An entry is a word in which a piece begins after some bytes, and the trigger
// that it is of.
type entry struct {
	word    string
	after   int
	trigger int
}

func newIndex() index {
	return index{filter: make([]uint64, 1<<hashBits/64), pieces: map[[gram]byte][]entry{}}
}

// hashBits makes a filter of 8 KiB, which stays in the cache of a processor.
const hashBits = 16

func hash(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> (32 - hashBits)
}

// add puts a word of a trigger into the index, under that of its pieces which
// fewest others share.
func (x *index) add(word string, trigger int) {
	var best [gram]byte
	after := -1
	for i := range len(word) - gram + 1 {
		piece := [gram]byte([]byte(word[i : i+gram]))
		if after < 0 || len(x.pieces[piece]) < len(x.pieces[best]) {
			best, after = piece, i
		}
	}
	x.pieces[best] = append(x.pieces[best], entry{word, after, trigger})
	bit := hash(best[0], best[1], best[2])
	x.filter[bit/64] |= 1 << (bit % 64)
}

// find sets found for the triggers of which a folded text holds a word.
func (x *index) find(text string, found []bool) {
	if len(x.pieces) == 0 {
		return
	}
	for i := gram; i <= len(text); i++ {
		a, b, c := text[i-3], text[i-2], text[i-1]
		if bit := hash(a, b, c); x.filter[bit/64]&(1<<(bit%64)) == 0 {
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
