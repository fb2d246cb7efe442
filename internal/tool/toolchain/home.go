package toolchain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"chela/internal/platform/datadir"
)

// startup are files and folders of a home that programs obey at their start. They do
// not last from one command to the next: a command could change the effect of every
// later one by them, unseen by the people who are asked about it.
var startup = strings.Fields(`
	.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .login .zshrc .zshenv .zprofile .zlogin .kshrc .mkshrc .cshrc .tcshrc
	.inputrc .config .gitconfig .git-credentials .hgrc .npmrc .pnpmrc .yarnrc .yarnrc.yml .bunfig.toml .pip .pydistutils.cfg .pypirc .pythonrc.py
	.cargo/config .cargo/config.toml .cargo/env .cargo/credentials .cargo/credentials.toml .gradle/init.gradle .gradle/init.gradle.kts
	.gradle/init.d .gradle/gradle.properties .m2/settings.xml .m2/settings-security.xml .m2/extensions.xml .m2/toolchains.xml .mavenrc
	.gemrc .bundle .irbrc .pryrc .Rprofile .Renviron .curlrc .wgetrc .netrc .ssh .gnupg .gdbinit .lldbinit .vim .vimrc .exrc .emacs .emacs.d .condarc
	.tool-versions .node_modules .node_libraries .perltidyrc .ghci .sbt/repositories
`)

// customize are modules that Python imports at its start.
var customize = []string{"sitecustomize.py", "usercustomize.py"}

// PrepareHome makes the home folder of commands at a path, without the files that
// programs obey at their start, and writes the settings of package managers into it.
// Links that a command made in it lead nowhere outside.
func (t *Toolchains) PrepareHome(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return datadir.Trouble(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return datadir.Trouble(dir, err)
	}
	defer root.Close() // every file was closed before
	top, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return datadir.Trouble(dir, err)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(top, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	for _, name := range startup {
		first, _, _ := strings.Cut(name, "/")
		if _, kept := t.registries.Files[name]; kept || !has(first) {
			continue
		}
		if err := remove(root, first, name); err != nil {
			return datadir.Trouble(dir, err)
		}
	}
	if has(".local") {
		packages, _ := fs.Glob(root.FS(), ".local/lib/python*/site-packages") // the pattern is well-formed
		for _, at := range packages {
			for _, name := range customize {
				if err := remove(root, ".local", path.Join(at, name)); err != nil {
					return datadir.Trouble(dir, err)
				}
			}
		}
	}
	for name, text := range t.registries.Files {
		_ = replace(root, name, text) // a folder in its place is the command's own loss
	}
	return nil
}

// remove removes a file or folder, if there is one. A link in the place of first, the
// folder that it is in, is removed instead: inside the sandbox it may lead elsewhere.
func remove(root *os.Root, first, name string) error {
	if at, err := root.Lstat(first); err == nil && at.Mode()&fs.ModeSymlink != 0 {
		return root.Remove(first)
	}
	if _, err := root.Lstat(name); err != nil {
		return nil //nolint:nilerr // there is none, or none that commands could read
	}
	err := root.RemoveAll(name)
	if err != nil {
		// Something in it cannot be opened. Programs do not find it under another name.
		err = setAside(root, name)
	}
	return err
}

// setAside gives a file or folder a name that programs do not look for.
func setAside(root *os.Root, name string) error {
	for n := range maxAside {
		aside := fmt.Sprintf("%s.removed-%d", name, n+1)
		if _, err := root.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return root.Rename(name, aside)
		}
	}
	return fmt.Errorf("%s cannot be removed, nor %d earlier ones", name, maxAside)
}

// maxAside limits the folders that are set aside; a command that makes more of them is
// refused from then on.
const maxAside = 1000

// replace makes a file have a text. One that has it is left alone.
func replace(root *os.Root, name, text string) error {
	if at, err := root.Lstat(name); err == nil && at.Mode().IsRegular() && at.Size() == int64(len(text)) {
		if had, err := root.ReadFile(name); err == nil && string(had) == text {
			return nil
		}
	}
	err := root.RemoveAll(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		if err = root.MkdirAll(path.Dir(name), 0o700); err == nil {
			err = root.WriteFile(name, []byte(text), 0o600)
		}
	}
	return err
}
