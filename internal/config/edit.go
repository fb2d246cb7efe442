package config

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"chela"
	"chela/internal/config/field"
	"chela/internal/config/tomlfile"
)

// Set writes one setting into config.toml of the home and keeps everything else
// in the file, including comments and order. The file is replaced atomically,
// and only if Load would accept the new one. The value is written as in the
// environment: lists are separated by commas.
//
// It fails with Invalid or Unsupported if key or value are wrong, with Denied
// if the file may not be written, and with Unavailable if writing failed.
func Set(home Home, key, value string) error { return SetAll(home, []Change{{key, value}}) }

// A Change is a setting and its new value.
type Change struct{ Key, Value string }

// SetAll is Set for several settings, which are written atomically.
func SetAll(home Home, changes []Change) error {
	return edit(home, "config set", func(name string, text []byte) (_ []byte, err error) {
		for _, c := range changes {
			if text, err = edited(name, text, c.Key, c.Value); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
}

// Unset removes a setting from config.toml of the home, so that its default
// applies, and keeps everything else in the file. It is a NotFound error if the
// setting is not in the file, and fails as Set does otherwise.
func Unset(home Home, key string) error {
	return edit(home, "config unset", func(name string, text []byte) ([]byte, error) {
		path, ok := tomlfile.ParseKey(key)
		if !ok {
			return nil, notKey(key)
		}
		doc, err := tomlfile.Parse(name, text)
		if err != nil {
			return nil, err
		}
		without, set := doc.Without(path)
		_, _, known := find(path)
		switch {
		case set && without == nil:
			return nil, uneditable(name, path, nil)
		case set:
			return without, nil
		case !known:
			return nil, unknown(path, origin{place: "config unset"})
		}
		return nil, chela.E(chela.NotFound, tomlfile.Join(path)+" is not set in config.toml").
			WithHint("chela config list shows its source")
	})
}

// edit replaces config.toml by the result of change, if Load would accept it.
// By names the source for messages.
func edit(home Home, by string, change func(name string, text []byte) ([]byte, error)) error {
	name := home.ConfigFile()
	text, err := tomlfile.Read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(name, err)
	}
	if text, err = change(name, text); err != nil {
		return err
	}
	whole := newLoader(nil)
	whole.unwritten = by
	whole.c.Home, whole.c.UserHome = home, userHome()
	if err := whole.file(name, text); err != nil {
		return err
	}
	if err := whole.finish(); err != nil { // checks between settings
		return err
	}
	if err := tomlfile.Replace(name, text); err != nil {
		kind := chela.Unavailable
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			kind = chela.Denied
		}
		return chela.E(kind, "cannot write "+name).
			WithHint("make the folder writable and see that the disk has room").Because(err)
	}
	return nil
}

// userHome returns the user's home folder, which the places of settings are relative to.
func userHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// edited returns the text of config.toml with one setting changed.
func edited(name string, old []byte, key, value string) ([]byte, error) {
	path, ok := tomlfile.ParseKey(key)
	if !ok {
		return nil, notKey(key)
	}
	s, part, ok := find(path)
	if !ok || strings.Contains(s.key, "[]") {
		return nil, unsettable(path)
	}
	doc, err := tomlfile.Parse(name, old)
	if err != nil {
		return nil, err
	}
	at := origin{place: "config set"}
	scratch := newLoader(nil)
	if err := scratch.put(path, word(value), at); err != nil {
		return nil, err
	}
	text := doc.With(path, s.at(scratch.c, part).Value(value))

	check := newLoader(nil)
	if err := check.file(name, text); err != nil {
		if before := newLoader(nil).file(name, old); before != nil {
			return nil, before
		}
		return nil, uneditable(name, path, err)
	}
	if check.slots[tomlfile.Join(path)].setting.key != s.key {
		return nil, uneditable(name, path, nil)
	}
	return text, nil
}

func notKey(key string) error {
	return chela.Ef(chela.Invalid, "%s is not a key", tomlfile.Quote(field.Cut(key))).
		WithHint("write one such as limits.steps (chela config list shows all)")
}

func unsettable(path []string) error {
	if ok, list := section(path[:1]); ok && list {
		return chela.E(chela.Unsupported, tomlfile.Join(path)+" is in a list of sections").
			WithHint("change it in config.toml (chela config path says where)")
	}
	if ok, _ := section(path); ok {
		return chela.E(chela.Invalid, tomlfile.Join(path)+" is a section").
			WithHint("set one of its keys, which chela config list shows")
	}
	return unknown(path, origin{place: "config set"})
}

func uneditable(name string, path []string, err error) error {
	return chela.Ef(chela.Unsupported, "%s is written in a form in which %s cannot be set", name, tomlfile.Join(path)).
		WithHint("change it by hand").Because(err)
}
