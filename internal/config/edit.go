package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"chela"
)

// Set writes one setting into config.toml of the home and keeps everything
// else in the file as it is, comments and order included. The file is replaced
// at once or not at all, and only by one that Load would take. The value is
// written as in the environment: lists have commas between their words.
//
// It fails with Invalid or Unsupported if key or value are wrong, with Denied
// if the file may not be written, and with Unavailable if that did not work.
func Set(home Home, key, value string) error {
	name := home.ConfigFile()
	old, err := readFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(name, err)
	}
	text, err := edited(name, old, key, value)
	if err != nil {
		return err
	}
	if err := replaceFile(name, text); err != nil {
		kind := chela.Unavailable
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			kind = chela.Denied
		}
		return chela.E(kind, "cannot write "+name).
			WithHint("make the folder writable and see that the disk has room").Because(err)
	}
	return nil
}

// edited returns the text of config.toml with one setting changed.
func edited(name string, old []byte, key, value string) ([]byte, error) {
	path, err := parseKey(key)
	if err != nil {
		return nil, err
	}
	s, part, ok := find(path)
	if !ok || strings.Contains(s.key, "[]") {
		return nil, unsettable(path)
	}
	doc, err := parse(name, old)
	if err != nil {
		return nil, err
	}
	at := origin{place: "config set"}
	scratch := newLoader(nil)
	if err := scratch.put(path, word(value), at); err != nil {
		return nil, err
	}
	given := literal(s.field(scratch.c, part).value(value))
	text := doc.with(old, path, given)

	check := newLoader(nil)
	if err := check.file(name, text); err != nil {
		if before := newLoader(nil).file(name, old); before != nil {
			return nil, before
		}
		return nil, uneditable(name, path, err)
	}
	if err := check.finish(); err != nil {
		return nil, err
	}
	if check.slots[join(path)].setting.key != s.key {
		return nil, uneditable(name, path, nil)
	}
	return text, nil
}

func unsettable(path []string) error {
	if ok, list := section(path[:1]); ok && list {
		return chela.E(chela.Unsupported, join(path)+" is in a list of sections").
			WithHint("change it in config.toml (chela config path says where)")
	}
	return unknown(path, origin{place: "config set"})
}

func uneditable(name string, path []string, err error) error {
	return chela.E(chela.Unsupported, fmt.Sprintf("%s is written in a way that does not let %s be set", name, join(path))).
		WithHint("change it by hand").Because(err)
}

// parseKey takes a key apart as TOML does, so that parts may be quoted.
func parseKey(key string) ([]string, error) {
	doc, err := parse("", []byte(key+" = 0"))
	if err != nil || len(doc.nodes) != 1 || doc.nodes[0].kind != pair {
		return nil, chela.E(chela.Invalid, fmt.Sprintf("%s is not a key", quote(cut(key)))).
			WithHint("write one such as limits.steps (chela config list shows all)")
	}
	return doc.nodes[0].path, nil
}

// with returns text with the setting at path changed to value: in its place if
// it is there, else beside its neighbours, else in a section of its own at the
// end.
func (d *document) with(text []byte, path []string, value string) []byte {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	for _, n := range d.nodes {
		if n.kind == pair && slices.Equal(n.path, path) {
			return splice(text, n.start, n.end, value)
		}
	}
	if out, ok := d.withinInline(text, path, value); ok {
		return out
	}
	section, last := path[:len(path)-1], path[len(path)-1:]
	if n, ok := d.neighbour(section); ok {
		line := join(append(slices.Clone(n.path[n.within:len(n.path)-1]), last...)) + " = " + value
		return insertLine(text, lineEnd(text, n.end), line, newline)
	}
	for _, n := range d.nodes {
		if n.kind == header && slices.Equal(n.path, section) {
			return insertLine(text, n.end, join(last)+" = "+value, newline)
		}
	}
	line := join(last) + " = " + value
	if len(section) == 0 {
		return insertLine(text, len(preamble.Find(text)), line, newline)
	}
	gap := ""
	if len(bytes.TrimSpace(text)) > 0 {
		gap = newline
	}
	return insertLine(text, len(text), gap+"["+join(section)+"]"+newline+line, newline)
}

// withinInline adds a pair to the inline table nearest above path.
func (d *document) withinInline(text []byte, path []string, value string) ([]byte, bool) {
	for n := len(path) - 1; n > 0; n-- {
		for _, table := range d.nodes {
			if table.kind != inline || table.end == 0 || !slices.Equal(table.path, path[:n]) {
				continue
			}
			// First in the table: then it does not matter how the table ends.
			entry := " " + join(path[n:]) + " = " + value
			rest := bytes.TrimLeft(text[table.start+1:table.end], " \t\r\n")
			switch {
			case rest[0] != '}':
				entry += ","
			case text[table.start+1] == '}':
				entry += " "
			}
			return splice(text, table.start+1, table.start+1, entry), true
		}
	}
	return nil, false
}

// neighbour returns the last pair of a section that stands on a line of its
// own.
func (d *document) neighbour(section []string) (node, bool) {
	inTable := map[string]bool{}
	for _, n := range d.nodes {
		if n.kind == inline {
			inTable[join(n.path)] = true
		}
	}
	for _, n := range slices.Backward(d.nodes) {
		if n.kind == header || n.end == 0 || inTable[join(n.path[:n.within])] {
			continue
		}
		if slices.Equal(n.path[:len(n.path)-1], section) {
			return n, true
		}
	}
	return node{}, false
}

func splice(text []byte, start, end int, with string) []byte {
	return slices.Concat(text[:start], []byte(with), text[end:])
}

// lineEnd returns the byte after the line that holds offset.
func lineEnd(text []byte, offset int) int {
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// insertLine puts a line at offset, which is the begin of a line or the end of
// the text.
func insertLine(text []byte, offset int, line, newline string) []byte {
	if offset > 0 && text[offset-1] != '\n' {
		line = newline + line
	}
	return splice(text, offset, offset, line+newline)
}

// preamble is the comment that opens a file, which an empty line ends.
var preamble = regexp.MustCompile(`\A(#.*\n)+(\r?\n|\z)`)

// replaceFile writes text beside name, makes it durable, and puts it in the
// place of name. Where name is a link, what it points to is replaced.
func replaceFile(name string, text []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".config-*.toml") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// syncDir makes a renaming durable. Windows has no such call and needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
