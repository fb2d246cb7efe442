package snapshot

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"chela/internal/platform/datadir"
	"chela/internal/platform/fail"
)

// A batch is what one snapshot adds to the index.
type batch struct {
	Folders map[string]*folder
	Gone    []string
}

// differences returns the batch that leads from one tree to another.
func differences(was, now tree) (b batch, any bool) {
	b.Folders = map[string]*folder{}
	for dir, f := range now {
		if old := was[dir]; old != f && (old == nil || !old.equal(f)) {
			b.Folders[dir] = f
		}
	}
	for dir := range was {
		if now[dir] == nil {
			b.Gone = append(b.Gone, dir)
		}
	}
	return b, len(b.Folders)+len(b.Gone) > 0
}

// An index is one generation of a workspace's snapshots.
type index struct {
	dir        string
	generation int64 // grows, and is used once
	batches    int   // how many it holds
	tree       tree
	log, pack  *os.File
	size       int64 // of the log
	base       int64 // size of its first batch
	packed     int64 // size of the pack
	packSynced int64 // how much of it is durable
	unsynced   bool  // the log is not durable
}

func indexFile(dir string, generation int64) string {
	return filepath.Join(dir, fmt.Sprintf("%d.index", generation))
}

func packFile(dir string, generation int64) string {
	return filepath.Join(dir, fmt.Sprintf("%d.pack", generation))
}

// newest returns the generation in use, 0 if there is none.
func newest(dir string) (generation int64) {
	all, _ := filepath.Glob(filepath.Join(dir, "*.index")) // a pattern without errors
	for _, name := range all {
		var n int64
		if _, err := fmt.Sscanf(filepath.Base(name), "%d.index", &n); err == nil {
			generation = max(generation, n)
		}
	}
	return generation
}

// openIndex opens a generation, and creates it if it is missing.
func openIndex(dir string, generation int64) (x *index, err error) {
	x = &index{dir: dir, generation: generation, tree: tree{}, unsynced: true}
	for _, f := range []struct {
		to   **os.File
		name string
	}{{&x.log, indexFile(dir, generation)}, {&x.pack, packFile(dir, generation)}} {
		if *f.to, err = os.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			x.close()
			return nil, err
		}
	}
	if err := x.refresh(-1); err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

func (x *index) close() {
	for _, f := range []*os.File{x.log, x.pack} {
		if f != nil {
			_ = f.Close() // what matters is synced
		}
	}
}

const batchHead = 8 // length and checksum

// refresh reads the batches that were added since, up to a number of them in all
// if it is not negative. A batch that is not complete ends the log.
func (x *index) refresh(upTo int) error {
	info, err := x.pack.Stat()
	if err != nil {
		return err
	}
	x.packed = info.Size()
	raw, err := io.ReadAll(io.NewSectionReader(x.log, x.size, 1<<40))
	if err != nil {
		return err
	}
	var next tree // a copy: other snapshots share the tree
	for len(raw) >= batchHead && x.batches != upTo {
		size := int(binary.LittleEndian.Uint32(raw))
		if size > len(raw)-batchHead {
			break
		}
		body := raw[batchHead : batchHead+size]
		if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(raw[4:]) {
			break
		}
		b, err := decodeBatch(body)
		if err != nil {
			break
		}
		if next == nil {
			next = maps.Clone(x.tree)
		}
		x.apply(next, b, int64(batchHead+size))
		raw = raw[batchHead+size:]
	}
	return nil
}

func (x *index) apply(next tree, b batch, size int64) {
	for dir, f := range b.Folders {
		next[dir] = f
	}
	for _, dir := range b.Gone {
		delete(next, dir)
	}
	if x.tree = next; x.batches == 0 {
		x.base = size
	}
	x.batches++
	x.size += size
}

// add appends the batch that leads to a tree.
func (x *index) add(now tree) error {
	b, any := differences(x.tree, now)
	if !any {
		x.tree = now
		return nil
	}
	raw := b.encode(make([]byte, batchHead))
	binary.LittleEndian.PutUint32(raw, uint32(len(raw)-batchHead))
	binary.LittleEndian.PutUint32(raw[4:], crc32.ChecksumIEEE(raw[batchHead:]))
	if err := x.log.Truncate(x.size); err != nil { // a batch that a dead process did not complete
		return err
	}
	if _, err := x.log.WriteAt(raw, x.size); err != nil {
		return err
	}
	x.apply(now, b, int64(len(raw)))
	x.unsynced = true
	return nil
}

// commit adds a tree and makes it durable, after the contents that it refers to.
func (x *index) commit(now tree) error {
	if x.packed != x.packSynced {
		if err := x.pack.Sync(); err != nil {
			return err
		}
		x.packSynced = x.packed
	}
	if err := fail.Point("snapshot.packed"); err != nil {
		return err
	}
	if err := x.add(now); err != nil || !x.unsynced {
		return err
	}
	if err := errors.Join(fail.Point("snapshot.added"), x.log.Sync(), datadir.SyncDir(x.dir)); err != nil {
		return err
	}
	x.unsynced = false
	return fail.Point("snapshot.synced")
}

// squeeze returns content as it is stored in a pack.
func squeeze(content []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // a level that exists
	_, err := w.Write(content)
	if err == nil {
		err = w.Close()
	}
	if err != nil || b.Len() >= len(content) {
		return append([]byte{0}, content...)
	}
	return append([]byte{1}, b.Bytes()...)
}

// content returns the content of an entry in the pack.
func (x *index) content(e entry) ([]byte, error) {
	raw := make([]byte, e.Length)
	if _, err := x.pack.ReadAt(raw, e.Offset); err != nil {
		return nil, err
	}
	content := raw[1:]
	if raw[0] == 1 {
		var err error
		if content, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw[1:])), e.Size+1)); err != nil {
			return nil, err
		}
	}
	if sumOf(content) != e.Sum {
		return nil, errors.New("a stored content is damaged")
	}
	return content, nil
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// held returns the bytes of contents in the pack that the tree refers to: those
// of the files, and those stored.
func (x *index) held() (files, stored int64) {
	for _, f := range x.tree {
		for _, e := range f.Entries {
			if e.Held && e.Length > 0 {
				files += e.Size
				stored += e.Length
			}
		}
	}
	return files, stored
}

// slack is how much of a log or pack may be unused before it is rewritten.
const slack = 8 << 20

// renew returns a new generation if much of this one is unused, else the same.
func (x *index) renew() (*index, error) {
	if x.size <= 2*x.base+slack && x.packed <= slack {
		return x, nil
	}
	if _, stored := x.held(); x.size <= 2*x.base+slack && x.packed <= 2*stored+slack {
		return x, nil
	}
	next, err := openIndex(x.dir, x.generation+1)
	if err != nil {
		return nil, err
	}
	if err := x.copyTo(next); err != nil {
		next.close()
		return nil, errors.Join(err, os.Remove(indexFile(x.dir, next.generation)))
	}
	x.close()
	old, _ := filepath.Glob(filepath.Join(x.dir, "*.*")) // a pattern without errors
	for _, name := range old {
		var n int64
		if _, err := fmt.Sscanf(strings.ReplaceAll(filepath.Base(name), ".", " "), "%d", &n); err == nil && n < x.generation {
			_ = os.Remove(name) // tried again with the next generation
		}
	}
	return next, nil
}

// copyTo writes the used contents into a new generation.
func (x *index) copyTo(next *index) error {
	now := make(tree, len(x.tree))
	for dir, f := range x.tree {
		g := *f
		g.Entries = append([]entry(nil), f.Entries...)
		for i := range g.Entries {
			e := &g.Entries[i]
			if !e.Held || e.Length == 0 {
				continue
			}
			raw := make([]byte, e.Length)
			if _, err := x.pack.ReadAt(raw, e.Offset); err != nil {
				return err
			}
			if err := next.store(e, raw); err != nil {
				return err
			}
		}
		now[dir] = &g
	}
	return next.commit(now)
}

// store appends a squeezed content to the pack.
func (x *index) store(e *entry, raw []byte) error {
	if _, err := x.pack.WriteAt(raw, x.packed); err != nil {
		return err
	}
	e.Offset, e.Length = x.packed, int64(len(raw))
	x.packed += e.Length
	return nil
}
