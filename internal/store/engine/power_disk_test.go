//go:build unix

package engine_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// sector is what a disk writes whole or not at all.
const sector = 512

// A disk knows what a folder holds for certain, and what was done to it since
// and may be lost with the power.
type disk struct {
	mu    sync.Mutex
	names map[string]*file // as programs see them
	state snapshot         // what would be left
	steps int              // calls that changed something or synced it
	look  func(steps int)  // called before each step, under mu
}

// A snapshot is a disk at the moment at which it loses its power.
type snapshot struct {
	names  map[string]*file // as of the last sync of the folder
	naming []naming         // since then
	files  map[*file]*left
}

// A file is one that has or had a name. What it holds is in a snapshot.
type file struct{ first string } // its first name

// A naming gives a name to a file, or takes it from one.
type naming struct {
	name string
	file *file // nil: the name is removed
}

// What is left of a file is its content as of its last sync, and any of the
// writes since then.
type left struct {
	synced []byte
	writes []edit
}

// An edit puts bytes at an offset, or makes the file end there.
type edit struct {
	at    int64
	bytes []byte // nil: at is the new size
}

func newDisk() *disk {
	return &disk{
		names: map[string]*file{},
		state: snapshot{names: map[string]*file{}, files: map[*file]*left{}},
		look:  func(int) {},
	}
}

// step runs change as one step.
func (d *disk) step(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(d.steps)
	d.steps++
	change()
}

// open returns the file of a name; one that is not known yet holds content.
func (d *disk) open(name string, content []byte) (f *file) {
	d.step(func() {
		if f = d.names[name]; f == nil {
			f = &file{name}
			d.names[name] = f
			d.state.files[f] = &left{synced: content}
			d.state.naming = append(d.state.naming, naming{name, f})
		}
	})
	return f
}

func (d *disk) remove(name string) {
	d.step(func() {
		delete(d.names, name)
		d.state.naming = append(d.state.naming, naming{name, nil})
	})
}

func (d *disk) write(f *file, w edit) {
	d.step(func() {
		l := d.state.files[f]
		l.writes = append(l.writes, w)
	})
}

// sync syncs a file while run does it. What is written meanwhile is not synced.
func (d *disk) sync(f *file, run func()) {
	var writes int
	d.step(func() { writes = len(d.state.files[f].writes) })
	run()
	d.step(func() {
		l := d.state.files[f]
		l.synced = apply(l.synced, l.writes[:writes])
		l.writes = slices.Clone(l.writes[writes:])
	})
}

// syncNames syncs the folder.
func (d *disk) syncNames() {
	d.step(func() {
		d.state.names = d.state.named(len(d.state.naming))
		d.state.naming = nil
	})
}

// named returns the names after the first namings.
func (s snapshot) named(first int) map[string]*file {
	names := maps.Clone(s.names)
	for _, n := range s.naming[:first] {
		names[n.name] = n.file
		if n.file == nil {
			delete(names, n.name)
		}
	}
	return names
}

// clone copies what later steps change.
func (s snapshot) clone() snapshot {
	c := snapshot{names: s.names, naming: slices.Clone(s.naming), files: map[*file]*left{}}
	for f, l := range s.files {
		c.files[f] = &left{synced: l.synced, writes: slices.Clone(l.writes)}
	}
	return c
}

// apply returns what content becomes by writes.
func apply(content []byte, writes []edit) []byte {
	content = slices.Clone(content)
	for _, w := range writes {
		end := w.at + int64(len(w.bytes))
		if grow := end - int64(len(content)); grow > 0 {
			content = append(content, make([]byte, grow)...)
		}
		if w.bytes == nil {
			content = content[:w.at]
		}
		copy(content[w.at:], w.bytes)
	}
	return content
}

// losses are the ways in which writes that were not synced are lost.
var losses = []string{"all", "last", "some", "torn"}

// after returns what a folder may hold after a loss of power, by name. Names
// come and go in order, as file systems journal them.
func (s snapshot) after(loss string, rng *rand.Rand) map[string][]byte {
	known := 0
	if loss != "all" {
		known = rng.IntN(len(s.naming) + 1)
	}
	content := map[string][]byte{}
	for name, f := range s.named(known) {
		l := s.files[f]
		content[name] = apply(l.synced, l.survivors(loss, rng))
	}
	return content
}

// survivors chooses the writes that reached the disk.
func (l left) survivors(loss string, rng *rand.Rand) []edit {
	switch loss {
	case "all":
		return nil
	case "last":
		return l.writes[:rng.IntN(len(l.writes)+1)]
	}
	some := slices.DeleteFunc(slices.Clone(l.writes), func(edit) bool { return rng.IntN(2) == 0 })
	if loss == "torn" && len(some) > 0 {
		i := rng.IntN(len(some))
		some[i] = some[i].torn(rng)
	}
	return some
}

// torn returns the beginning or the end of a write, up to or from a border of
// sectors; a write within one sector stays whole.
func (w edit) torn(rng *rand.Rand) edit {
	first := sector - w.at%sector // bytes to the first border
	borders := (int64(len(w.bytes)) - first + sector - 1) / sector
	if borders <= 0 {
		return w
	}
	cut := first + rng.Int64N(borders)*sector
	if rng.IntN(2) == 0 {
		return edit{w.at, w.bytes[:cut]}
	}
	return edit{w.at + cut, w.bytes[cut:]}
}
