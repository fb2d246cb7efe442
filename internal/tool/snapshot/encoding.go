package snapshot

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
)

// layout is the version of the encoding of batches, their first byte.
const layout = 1

// Bits of folders and entries.
const (
	isRecent  = 1 << iota
	isIgnored // an entry
	isHeld    // an entry
	isCached  // a folder
)

var errDamaged = errors.New("the index is damaged")

// encode appends a batch to raw.
func (b batch) encode(raw []byte) []byte {
	raw = append(raw, layout)
	raw = binary.AppendUvarint(raw, uint64(len(b.Folders)))
	for dir, f := range b.Folders {
		raw = appendText(raw, dir)
		raw = append(raw, bit(f.Recent, isRecent)|bit(f.Cache, isCached))
		raw = binary.AppendUvarint(raw, uint64(len(f.Entries)))
		for _, e := range f.Entries {
			raw = e.encode(raw)
		}
	}
	raw = binary.AppendUvarint(raw, uint64(len(b.Gone)))
	for _, dir := range b.Gone {
		raw = appendText(raw, dir)
	}
	return raw
}

func (e entry) encode(raw []byte) []byte {
	raw = appendText(raw, e.Name)
	raw = append(raw, byte(e.Kind), bit(e.Recent, isRecent)|bit(e.Ignored, isIgnored)|bit(e.Held, isHeld))
	for _, n := range []uint64{uint64(e.Mode), e.Inode, uint64(e.Size), uint64(e.Written), uint64(e.Changed), e.Links} {
		raw = binary.AppendUvarint(raw, n)
	}
	if !e.Held {
		return raw
	}
	raw = appendText(raw, e.Target)
	sum, _ := hex.DecodeString(e.Sum) // which sumOf encoded
	raw = appendText(raw, string(sum))
	raw = binary.AppendUvarint(raw, uint64(e.Offset))
	return binary.AppendUvarint(raw, uint64(e.Length))
}

func appendText(raw []byte, text string) []byte {
	return append(binary.AppendUvarint(raw, uint64(len(text))), text...)
}

func bit(set bool, b byte) byte {
	if set {
		return b
	}
	return 0
}

// decodeBatch is the reverse of encode.
func decodeBatch(raw []byte) (b batch, err error) {
	d := decoder{raw: raw}
	if d.byte() != layout {
		return b, errDamaged
	}
	b.Folders = map[string]*folder{}
	for range d.count() {
		dir, bits := d.text(), d.byte()
		f := &folder{Recent: bits&isRecent != 0, Cache: bits&isCached != 0}
		n := d.count()
		f.Entries = make([]entry, 0, n)
		for range n {
			f.Entries = append(f.Entries, d.entry())
		}
		b.Folders[dir] = f
	}
	for range d.count() {
		b.Gone = append(b.Gone, d.text())
	}
	return b, d.err
}

// A decoder reads values from raw. After an error all values are zero.
type decoder struct {
	raw []byte
	err error
}

func (d *decoder) entry() (e entry) {
	e.Name = d.text()
	e.Kind = kind(d.byte())
	bits := d.byte()
	e.Recent, e.Ignored, e.Held = bits&isRecent != 0, bits&isIgnored != 0, bits&isHeld != 0
	e.Mode, e.Inode, e.Size = fs.FileMode(d.number()), d.number(), int64(d.number())
	e.Written, e.Changed, e.Links = int64(d.number()), int64(d.number()), d.number()
	if e.Held {
		e.Target, e.Sum = d.text(), hex.EncodeToString([]byte(d.text()))
		e.Offset, e.Length = int64(d.number()), int64(d.number())
	}
	return e
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.raw)
	if size <= 0 {
		d.raw, d.err = nil, errDamaged
		return 0
	}
	d.raw = d.raw[size:]
	return n
}

// count returns how many values follow, which take a byte each at least.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.raw)) {
		d.raw, d.err = nil, errDamaged
		return 0
	}
	return int(n)
}

func (d *decoder) byte() byte {
	if len(d.raw) == 0 {
		d.err = errDamaged
		return 0
	}
	b := d.raw[0]
	d.raw = d.raw[1:]
	return b
}

func (d *decoder) text() string {
	n := d.count()
	text := string(d.raw[:n])
	d.raw = d.raw[n:]
	return text
}
