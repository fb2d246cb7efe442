package shell

import (
	"fmt"
	"slices"
	"strings"

	"chela/internal/platform/lazyregexp"
	"chela/internal/tool/workspace"
)

// writers are commands that write, replace or remove files named in their
// arguments. The position of the target differs by command, and a copy keeps
// the name of its source, so any argument counts.
const writers = `
	tee cp mv ln install rsync truncate touch rm unlink rename chmod chown dd patch curl wget sort sponge ed ex sed perl
`

// obeyedRisks returns why a command changes a file obeyed by other programs: a
// file of workspace.ObeyedBy, or the configuration of git.
func (c command) obeyedRisks() (reasons []string) {
	add := func(reason string) {
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	switch name := c.name(); {
	case (name == "sed" || name == "perl") && !c.option("i", "in-place"):
	case among(writers, name):
		for _, w := range c.words[1:] {
			add(obeyedRisk(w))
		}
	case name == "cd" || name == "pushd":
		for _, w := range c.words[1:] {
			if by := obeyedBy(w); by != "" {
				add(fmt.Sprintf("it works among files that programs run or obey: %s (%s)", w.text, by))
			}
		}
	case name == "git" && c.configures():
		add("it changes a file that programs run or obey: .git/config (version control)")
	}
	return reasons
}

// obeyedRisk returns why a write to a file needs approval, or "".
func obeyedRisk(w word) string {
	by := obeyedBy(w)
	if by == "" {
		return ""
	}
	return fmt.Sprintf("it changes a file that programs run or obey: %s (%s)", w.text, by)
}

// obeyedBy returns the programs that obey the file named by w, or "". Files of
// the system are not listed: writing them has a risk of its own.
func obeyedBy(w word) string {
	text := w.text
	if !w.fixed {
		text = wildcards(text)
	}
	_, value, _ := strings.Cut(text, "=") // of an option, such as of= or --target-directory=
	for _, name := range []string{text, value} {
		for _, dir := range []string{"/etc/", "/usr/", "/bin/", "/sbin/", "/lib/", "/boot/", "/var/", "/root/", "/sys/", "/proc/"} {
			if strings.HasPrefix(name, dir) {
				return "the system"
			}
		}
		if by := workspace.ObeyedBy(name); name != "" && by != "" {
			return by
		}
	}
	return ""
}

// configures reports whether git writes its configuration.
func (c command) configures() bool {
	c = c.withoutHarmlessSettings()
	plain := slices.DeleteFunc(slices.Clone(c.words[1:]), func(w word) bool { return w.fixed && strings.HasPrefix(w.text, "-") })
	verb := slices.IndexFunc(plain, func(w word) bool {
		return among("config remote submodule init clone", w.text)
	})
	if verb < 0 {
		return false
	}
	args := plain[verb+1:]
	first := ""
	if len(args) > 0 {
		first = args[0].text
	}
	switch plain[verb].text {
	case "config":
		reads := c.option("l", "list") || c.option("", "get-all") || c.option("", "get-regexp") || among("get list", first)
		return !reads && (len(args) > 1 || c.option("e", "edit"))
	case "remote":
		return among("add set-url rename", first)
	case "submodule":
		return among("add init update sync set-url", first)
	default:
		return c.option("", "template") || c.option("c", "config")
	}
}

// wildcards returns the source of a word as a pattern, with "*" in place of
// every expansion.
func wildcards(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		switch c := source[i]; c {
		case '"', '\'', '\\':
		case '?', '*':
			b.WriteByte('*')
		case '$', '{', '[', '`':
			b.WriteByte('*')
			i = endOfExpansion(source, i)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// variable matches the name of a variable, or its number, after the dollar.
var variable = lazyregexp.New(`^[A-Za-z0-9_]*`)

// endOfExpansion returns the last byte of the expansion that begins at a byte
// of source.
func endOfExpansion(source string, at int) int {
	rest := source[at+1:]
	if source[at] == '$' && rest != "" && !strings.ContainsAny(rest[:1], "{(") {
		name := variable().FindString(rest)
		return at + max(len(name), 1)
	}
	if end := strings.IndexAny(rest, "})]`"); end >= 0 {
		return at + 1 + end
	}
	return at
}
