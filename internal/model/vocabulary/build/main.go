// Command build generates the table of package vocabulary from a public
// tokenizer.
package main

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/tiktoken-go/tokenizer/codec"
)

// The layout of the table, as package vocabulary reads it.
const (
	tokens   = 199_998
	slots    = 1 << 18
	rankBits = 18
	freeSlot = 1<<32 - 1
)

func main() {
	if err := build("o200k.bin"); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(path string) error {
	vocabulary := codec.NewO200kBase()
	table := make([]uint32, slots)
	for i := range table {
		table[i] = freeSlot
	}
	places, bytes := []uint32{0}, []byte(nil)
	for rank := range uint32(tokens) {
		token, err := vocabulary.Decode([]uint{uint(rank)})
		if err != nil {
			return err
		}
		bytes = append(bytes, token...)
		places = append(places, uint32(len(bytes)))
		h := hash(token)
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
	return os.WriteFile(path, append(out, bytes...), 0o644)
}

// hash is FNV-1a, with its upper half mixed into the lower one.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>32
}
