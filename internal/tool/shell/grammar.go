package shell

import (
	"slices"
	"strings"
)

// A grammar lists the arguments of a program with which it does what its name
// says. Every other option, such as one that names a file to write or a command
// to run, takes the line out of reach of patterns with wildcards.
type grammar struct {
	safe   bool   // no option does harm; none is checked
	flags  string // short options without a value
	valued string // short options with one
	long   string // long options; with "=" if they take a value, with "?" if they may
	dash   bool   // options have one dash or two and are never in clusters, as in Go programs
	stops  bool   // arguments after the first operand belong to another program

	operands func(operands []word) bool // checks the operands; nil accepts all
	every    func(args []word) bool     // checks all arguments; nil accepts all
	changes  bool                       // it may change files or run other programs even so
}

// A nature is how much is known of a command.
type nature int

const (
	natureOther      nature = iota // nothing is known of its options
	natureReads                    // it only reads, whatever the files hold
	natureNamed                    // it does what its name says
	natureSurprising               // its arguments make it do more, or may
)

// nature classifies a command by its program and arguments. The payload of a
// wrapper is a command of its own.
func (c command) nature() nature {
	name := c.name()
	if path := c.words[0].text; path != name && !slices.Contains([]string{"/bin/" + name, "/usr/bin/" + name, "/usr/local/bin/" + name}, path) {
		return natureOther // a program of the workspace
	}
	args := c.words[1:]
	switch {
	case among(readingWrappers, name):
		return natureReads
	case among(runners, name):
		return natureSurprising
	case name == "find":
		return readsIf(findReads(args))
	case name == "sed":
		return readsIf(sedReads(args))
	case among("awk gawk mawk nawk", name):
		return readsIf(awkReads(args))
	case name == "git":
		return gitNature(args)
	case name == "go":
		return goNature(args)
	case name == "tar" && len(args) > 0 && args[0].fixed && !strings.HasPrefix(args[0].text, "-"):
		args = slices.Clone(args)
		args[0].text = "-" + args[0].text // its first argument is options in any case
	}
	g, ok := grammars[name]
	switch {
	case versionOnly(args) && (ok || among(versioned, name)):
		return natureReads
	case !ok:
		return natureOther
	default:
		return g.nature(args)
	}
}

func readsIf(reads bool) nature {
	if reads {
		return natureReads
	}
	return natureSurprising
}

func (g grammar) nature(args []word) nature {
	switch {
	case !g.accepts(args):
		return natureSurprising
	case g.changes:
		return natureNamed
	default:
		return natureReads
	}
}

// accepts reports whether all arguments are in the grammar.
func (g grammar) accepts(args []word) bool {
	if g.safe {
		return true
	}
	if g.every != nil && !g.every(args) {
		return false
	}
	var operands []word
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.fixed && a.text == "--":
			operands, i = append(operands, args[i+1:]...), len(args)
		case !a.fixed && !anchored(a):
			return false
		case !strings.HasPrefix(a.text, "-") || a.text == "-":
			operands = append(operands, a)
			if g.stops {
				i = len(args)
			}
		default:
			more, ok := g.option(a.text)
			if !ok || more && (i+1 >= len(args) || !args[i+1].fixed) {
				return false
			}
			if more {
				i++
			}
		}
	}
	return g.operands == nil || g.operands(operands)
}

// anchored reports whether every argument that a shell makes of a word begins
// like the word: it expands only to file names, and it cannot become an option.
func anchored(w word) bool {
	first := w.text[0]
	letter := first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z' || first >= '0' && first <= '9'
	return !w.fed && (letter || strings.IndexByte("./_~", first) >= 0) && !strings.ContainsAny(w.text, "$`")
}

// option reports whether the grammar has an option, and whether the next
// argument is its value.
func (g grammar) option(text string) (more, ok bool) {
	if name := strings.TrimLeft(text, "-"); g.dash || strings.HasPrefix(text, "--") {
		name, _, valued := strings.Cut(name, "=")
		switch long := strings.Fields(g.long); {
		case slices.Contains(long, name+"="):
			return !valued, true
		case slices.Contains(long, name+"?"):
			return false, true
		default:
			return false, !valued && slices.Contains(long, name)
		}
	}
	w := wrapper{flags: g.flags, valued: g.valued}
	n, ok := w.short(text[1:])
	return n > 0, ok
}

// atMost accepts a number of operands that are known before the line runs.
func atMost(n int) func([]word) bool {
	return func(operands []word) bool {
		return len(operands) <= n && !slices.ContainsFunc(operands, func(w word) bool { return !w.fixed })
	}
}

// startWith accepts operands that begin with a text.
func startWith(prefix string) func([]word) bool {
	return func(operands []word) bool {
		return !slices.ContainsFunc(operands, func(w word) bool { return !w.fixed || !strings.HasPrefix(w.text, prefix) })
	}
}

// without accepts operands that have none of some characters.
func without(characters string) func([]word) bool {
	return func(operands []word) bool {
		return !slices.ContainsFunc(operands, func(w word) bool { return strings.ContainsAny(w.text, characters) })
	}
}

// local accepts operands without addresses of git that name a program.
func local(operands []word) bool {
	return !slices.ContainsFunc(operands, func(w word) bool { return !w.fixed || strings.Contains(w.text, "::") })
}

// verbs accepts operands of which the first is one of some words.
func verbs(words string) func([]word) bool {
	return func(operands []word) bool {
		return len(operands) > 0 && operands[0].fixed && among(words, operands[0].text)
	}
}

// versionOnly reports whether a program is only asked for its version.
func versionOnly(args []word) bool {
	return len(args) == 1 && args[0].fixed && among("--version -version -V", args[0].text)
}
