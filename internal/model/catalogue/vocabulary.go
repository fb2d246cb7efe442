package catalogue

import _ "embed"

// This part of the package counts the tokens of a text in o200k_base, the vocabulary
// of OpenAI's models and the largest public one.
//
// The vocabulary is an embedded table that is searched in place, so nothing is
// loaded, and a process that counts a few words touches a few pages. A map of
// 200,000 strings would cost every command 20 MB and 10 ms.

// o200k is the table that TestTable writes: slots of a hash table, then the
// positions of the tokens by rank, then their bytes.
//
//go:embed o200k.bin
var o200k string

// The layout of the table. A slot holds a part of the hash above the rank.
const (
	tokens    = 199_998 // ranks from 0
	slotBits  = 18
	rankBits  = 18
	slots     = 1 << slotBits
	freeSlot  = 1<<32 - 1
	placesAt  = 4 * slots
	bytesAt   = placesAt + 4*(tokens+1)
	noRank    = 1<<32 - 1
	hashBasis = 14695981039346656037
	hashPrime = 1099511628211
)

// maxPiece bounds a piece that is merged as a whole, in bytes. A longer piece,
// such as a long run of one letter, is counted in parts, which may add a token
// each.
const maxPiece = 128

// CountTokens returns the number of tokens in a text.
func CountTokens(text string) int {
	n := 0
	for text != "" {
		end := pieceEnd(text)
		for piece := text[:end]; piece != ""; {
			part := piece[:min(maxPiece, len(piece))]
			piece = piece[len(part):]
			n += countPiece(part)
		}
		text = text[end:]
	}
	return n
}

// countPiece counts the tokens of one piece by byte-pair merging: it starts
// with single bytes and repeatedly joins the neighbors that form the token of
// the lowest rank.
func countPiece(piece string) int {
	if rank(piece) != noRank {
		return 1
	}
	var starts [maxPiece + 1]uint8 // of the parts, and the end
	var joined [maxPiece]uint32    // rank of each part joined with the next
	n := len(piece)
	for i := range n + 1 {
		starts[i] = uint8(i)
	}
	join := func(i int) uint32 {
		if i+2 > n {
			return noRank
		}
		return rank(piece[starts[i]:starts[i+2]])
	}
	for i := range n {
		joined[i] = join(i)
	}
	for n > 1 {
		best := 0
		for i := 1; i < n-1; i++ {
			if joined[i] < joined[best] {
				best = i
			}
		}
		if joined[best] == noRank {
			break
		}
		copy(starts[best+1:], starts[best+2:n+1])
		copy(joined[best+1:], joined[best+2:n])
		n--
		joined[best] = join(best)
		if best > 0 {
			joined[best-1] = join(best - 1)
		}
	}
	return n
}

// rank returns the rank of a token, or noRank.
func rank(s string) uint32 {
	h := hash(s)
	for at := h % slots; ; at = (at + 1) % slots {
		slot := number(int(4 * at))
		if slot == freeSlot {
			return noRank
		}
		if r := slot & (1<<rankBits - 1); slot>>rankBits == mark(h) && token(r) == s {
			return r
		}
	}
}

// hash is FNV-1a, with its upper half mixed into the lower one.
func hash(s string) uint64 {
	h := uint64(hashBasis)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * hashPrime
	}
	return h ^ h>>32
}

// mark is the part of a hash that a slot stores.
func mark(h uint64) uint32 { return uint32(h>>40) & (1<<(32-rankBits) - 1) }

// token returns the bytes of the token with a rank.
func token(rank uint32) string {
	at := placesAt + 4*int(rank)
	return o200k[bytesAt+int(number(at)) : bytesAt+int(number(at+4))]
}

// number reads a little-endian number of four bytes.
func number(at int) uint32 {
	return uint32(o200k[at]) | uint32(o200k[at+1])<<8 | uint32(o200k[at+2])<<16 | uint32(o200k[at+3])<<24
}
