package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// fill uses memory until it is killed or gets no more.
func fill(args []string) {
	piece := make([]byte, mib)
	for i := range piece {
		piece[i] = byte(i) | 1
	}
	switch args[0] {
	case "anonymous":
		for {
			b, err := unix.Mmap(-1, 0, mib, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				fmt.Println("tried more memory:", err)
				hold(nil)
			}
			copy(b, piece)
		}
	case "memfd":
		for {
			fd, err := unix.MemfdCreate("fill", 0)
			for n := 0; n < 64 && err == nil; n++ {
				_, err = unix.Write(fd, piece)
			}
			if err != nil {
				fmt.Println("tried more memory:", err)
				return
			}
		}
	default:
		f, err := os.CreateTemp(args[0], "fill")
		for err == nil {
			_, err = f.Write(piece)
		}
		fmt.Println("tried more memory:", err)
	}
}

// unlinked fills the disk with files that have no name: each stays open, or is only
// mapped.
func unlinked(args []string) {
	piece := make([]byte, mib)
	for total := 0; total < number(args[1]); {
		f, err := os.CreateTemp(".", "unlinked")
		if err == nil {
			err = os.Remove(f.Name())
		}
		for n := 0; n < 32 && err == nil; n++ {
			if _, err = f.Write(piece); err == nil {
				total++
			}
		}
		if args[0] == "mapped" && err == nil {
			_, err = unix.Mmap(int(f.Fd()), 0, 32*mib, unix.PROT_READ, unix.MAP_SHARED)
			f.Close()
		}
		if err != nil {
			fmt.Println("tried more disk:", err)
			break
		}
	}
	fmt.Println("escaped: the disk was filled")
}

func manyFiles(args []string) {
	for n := range number(args[0]) {
		dir := fmt.Sprintf("many/%d", n/1000)
		if n%1000 == 0 {
			_ = os.MkdirAll(dir, 0o700)
		}
		if err := os.WriteFile(fmt.Sprintf("%s/%d", dir, n), nil, 0o600); err != nil {
			fmt.Println("tried more files:", err)
			return
		}
	}
	fmt.Println("escaped: all files were made")
}

// deepFolders makes folders within each other, deeper than a path may be long.
func deepFolders(args []string) {
	for n := range number(args[0]) {
		if err := os.Mkdir(strings.Repeat("d", 100), 0o700); err != nil {
			fmt.Println("tried more folders:", err)
			return
		}
		if err := os.Chdir(strings.Repeat("d", 100)); err != nil {
			fmt.Println("tried folder", n, err)
			return
		}
	}
	fmt.Println("made folders")
}

// swap replaces a path by a link to a folder or file outside, over and over.
func swap(args []string) {
	kind, outside, ms := args[0], args[1], args[2]
	_ = os.MkdirAll("race", 0o700)
	link, name, target := filepath.Join("race", "link"), filepath.Join("race", kind), outside
	if kind == "folder" {
		_ = os.MkdirAll(name, 0o700)
		_ = os.WriteFile(name+"/secret", []byte("harmless\n"), 0o600)
	} else {
		_ = os.WriteFile(name, []byte("harmless\n"), 0o600)
		target = filepath.Join(outside, "secret")
	}
	_ = os.Remove(link)
	fmt.Println("link:", os.Symlink(target, link))
	count := 0
	pauses(ms, func() {
		if unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE) == nil {
			count++
		}
	})
	fmt.Println("tried swaps:", count)
}

// linkRace makes hard links to a file that the file tools write, and to one outside.
func linkRace(args []string) {
	_ = os.MkdirAll("race", 0o700)
	count, refused := 0, 0
	pauses(args[1], func() {
		_ = os.Remove("race/file")
		if os.Link(filepath.Join(args[0], "secret"), "race/file") != nil {
			refused++
			_ = os.WriteFile("race/other", []byte("harmless\n"), 0o600)
			_ = os.Link("race/other", "race/file")
		}
		_ = os.Remove("race/other")
		count++
	})
	fmt.Println("tried links:", count, "refused:", refused)
}
