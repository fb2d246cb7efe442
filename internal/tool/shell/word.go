package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"chela/internal/platform/lazyregexp"
)

// A word is one argument as known before the line runs.
type word struct {
	text  string // its value if fixed, else its source
	fixed bool   // the value is certain: nothing in it is expanded
	fed   bool   // a part of it is the output of another command
}

// readWord evaluates w, a word of line, as far as possible.
func readWord(w *syntax.Word, line string) word {
	value, fixed := valueOf(w.Parts, false)
	if fixed {
		return word{text: value, fixed: true}
	}
	return word{text: source(w, line), fed: hasCommand(w)}
}

// valueOf returns the value of the parts of a word, or false if it depends on
// the state of the shell at run time.
func valueOf(parts []syntax.WordPart, quoted bool) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			value, fixed := literal(p.Value, quoted)
			if !fixed {
				return "", false
			}
			b.WriteString(value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			value, fixed := valueOf(p.Parts, true)
			if !fixed || p.Dollar {
				return "", false
			}
			b.WriteString(value)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// literal returns the value of literal text. Text outside quotes that may match
// file names, split into several words or expand to a home directory is not
// fixed.
func literal(text string, quoted bool) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0):
			i++
			if text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case !quoted && (strings.IndexByte("*?{~", c) >= 0 || c == '[' && len(text) > 1):
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// hasCommand reports whether a part of node is the output of a command.
func hasCommand(node syntax.Node) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}

// simpleExpansions reports whether node expands only plain variables, file
// names and braces: nothing that runs, assigns or computes.
func simpleExpansions(node syntax.Node) bool {
	simple := true
	syntax.Walk(node, func(n syntax.Node) bool {
		if !simple {
			return false
		}
		switch p := n.(type) {
		case *syntax.ParamExp:
			simple = p.Param != nil && !p.Excl && p.Index == nil && p.Slice == nil &&
				p.Repl == nil && p.Names == 0 && p.Exp == nil
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			simple = false
		case *syntax.DblQuoted:
			simple = !p.Dollar
		}
		return simple
	})
	return simple
}

// source returns node as written in line. The printer of the parser's package
// would drop some invisible characters.
func source(node syntax.Node, line string) string {
	from, to := node.Pos().Offset(), node.End().Offset()
	if from > to || to > uint(len(line)) {
		return line // the parser cannot place it
	}
	return line[from:to]
}

// canonical returns the words as one line; equal commands have equal lines.
func canonical(words []word) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.text
		if !w.fixed || i > 0 && plain().MatchString(w.text) {
			continue
		}
		// Only NUL cannot be quoted, and no line with it gets this far.
		if q, err := syntax.Quote(w.text, syntax.LangBash); err == nil {
			parts[i] = q
		}
	}
	return strings.Join(parts, " ")
}

// plain matches an argument that needs no quotes.
var plain = lazyregexp.New(`^[A-Za-z0-9_@%+=:,./^-]+$`)
