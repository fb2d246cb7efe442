//go:build !linux

package snapshot

import (
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A lister reads folders.
type lister struct{}

// read returns the entries of a folder, sorted by name.
func (*lister) read(root *os.Root, dir string, _ []entry) (found []entry, err error) {
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	infos, err := f.Readdir(-1)
	for _, info := range infos {
		found = append(found, entryOf(info.Name(), info))
	}
	slices.SortFunc(found, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return found, err
}

// entryOf describes a file without its inode, which is not known everywhere: a
// change that keeps size and time is not seen.
func entryOf(name string, info fs.FileInfo) entry {
	at := info.ModTime().UnixNano()
	e := entry{Name: name, Mode: info.Mode().Perm(), Size: info.Size(), Written: at, Changed: at, Links: 1}
	switch {
	case info.Mode().IsRegular():
		e.Kind = regular
	case info.IsDir():
		e.Kind = directory
	case info.Mode()&fs.ModeSymlink != 0:
		e.Kind, e.Mode = link, 0
	}
	return e
}

func openBeneath(root *os.Root, name string) (*os.File, error) { return root.Open(name) }

// stat returns the entry of an open file.
func stat(f *os.File, name string) (entry, error) {
	info, err := f.Stat()
	if err != nil {
		return entry{}, err
	}
	return entryOf(name, info), nil
}
