package catalogue

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

// TestTable makes the table of a public tokenizer and compares it with the embedded one.
func TestTable(t *testing.T) {
	t.Parallel()
	made, err := makeTable()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("o200k.bin", made, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(made) != o200k {
		t.Error("the table differs from the tokenizer; go test -update writes it anew")
	}
}

func makeTable() ([]byte, error) {
	vocabulary := codec.NewO200kBase()
	table := make([]uint32, slots)
	for i := range table {
		table[i] = freeSlot
	}
	places, bytes := []uint32{0}, []byte(nil)
	for rank := range uint32(tokens) {
		token, err := vocabulary.Decode([]uint{uint(rank)})
		if err != nil {
			return nil, err
		}
		bytes = append(bytes, token...)
		places = append(places, uint32(len(bytes)))
		h := hashOf(token)
		at := h % slots
		for table[at] != freeSlot {
			at = (at + 1) % slots
		}
		table[at] = uint32(h>>40)<<rankBits | rank
	}
	var out []byte
	for _, numbers := range [][]uint32{table, places} {
		for _, n := range numbers {
			out = binary.LittleEndian.AppendUint32(out, n)
		}
	}
	return append(out, bytes...), nil
}

// hashOf is FNV-1a, with its upper half mixed into the lower one.
func hashOf(s string) uint64 {
	h := uint64(hashBasis)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * hashPrime
	}
	return h ^ h>>32
}
