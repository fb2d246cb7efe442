package shell

import (
	"slices"
	"strings"
)

// A payload is the command that another command runs: a command, a line of
// shell, or unknown.
type payload struct {
	words  []word
	line   string
	opaque bool
}

var unknown = payload{opaque: true}

// A wrapper is a command that runs the command in its arguments. The payload is
// known only if all its options are.
type wrapper struct {
	flags  string // short options without a value
	valued string // short options with one
	long   string // long options, with "=" where they take a value
	skip   int    // arguments before the command
}

var wrappers = map[string]wrapper{
	"builtin": {},
	"busybox": {},
	"command": {flags: "p"},
	"doas":    {flags: "nL", valued: "uC"},
	"env":     {flags: "i0v", valued: "uC", long: "ignore-environment unset= chdir="},
	"exec":    {flags: "cl", valued: "a"},
	"ionice":  {flags: "t", valued: "cn", long: "class= classdata= ignore"},
	"nice":    {flags: "0123456789", valued: "n", long: "adjustment="},
	"nohup":   {},
	"setsid":  {flags: "cfw", long: "ctty fork wait"},
	"stdbuf":  {valued: "ioe", long: "input= output= error="},
	"sudo":    {flags: "nEHSkKbAPB", valued: "ughpCTrtUDR", long: "user= group= non-interactive preserve-env set-home"},
	"time":    {flags: "pvaq"},
	"timeout": {flags: "v", valued: "sk", long: "foreground preserve-status verbose signal= kill-after=", skip: 1},
	"toybox":  {},
	"xargs":   {flags: "0rtpx", valued: "nILPdsaE", long: "null no-run-if-empty verbose max-args= max-procs= replace="},
}

// shells run a line that is an argument of theirs.
const shells = "ash bash dash ksh mksh rbash sh zsh"

// unwrap returns the payload of c.
func (c command) unwrap() payload {
	name, args := c.name(), c.words[1:]
	switch {
	case among(shells, name):
		return script(args)
	case name == "find":
		return foundCommand(args)
	case name == "eval":
		return evaluated(args)
	case name == "trap":
		return trapped(args)
	case name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V"):
		return payload{} // only queries
	}
	w, ok := wrappers[name]
	if !ok {
		return payload{}
	}
	inner := w.inner(args)
	if name == "xargs" && !inner.opaque {
		if len(inner.words) == 0 {
			inner.words = []word{{text: "echo", fixed: true}}
		}
		inner.words = append(slices.Clone(inner.words), word{text: "{}", fed: true})
	}
	return inner
}

// inner returns the command among a wrapper's arguments.
func (w wrapper) inner(args []word) payload {
	skip := w.skip
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.fixed {
			return unknown
		}
		switch {
		case a.text == "--":
			return payload{words: args[min(i+1+skip, len(args)):]}
		case a.text == "-":
			return unknown // an option to env, a name to others
		case strings.HasPrefix(a.text, "--"):
			if !w.knowsLong(a.text[2:]) {
				return unknown
			}
		case strings.HasPrefix(a.text, "-"):
			more, ok := w.short(a.text[1:])
			if !ok {
				return unknown
			}
			i += more
		case strings.Contains(a.text, "="):
			return unknown // a variable that the command will see
		case skip > 0:
			skip--
		default:
			return payload{words: args[i:]}
		}
	}
	return payload{}
}

func (w wrapper) knowsLong(option string) bool {
	name, _, valued := strings.Cut(option, "=")
	if valued {
		name += "="
	}
	return among(w.long, name)
}

// short returns how many further arguments a cluster of short options takes, or
// false if any option is unknown.
func (w wrapper) short(cluster string) (more int, ok bool) {
	for i, c := range cluster {
		switch {
		case strings.ContainsRune(w.valued, c):
			if i+1 == len(cluster) {
				more = 1 // else the rest is its value
			}
			return more, true
		case !strings.ContainsRune(w.flags, c):
			return more, false
		}
	}
	return more, true
}

// script returns the line that a shell is given with -c. A shell that is given
// a file runs that instead; a script on its input is unknown.
func script(args []word) payload {
	for i, a := range args {
		switch {
		case !a.fixed:
			return unknown
		case a.text == "--version" || a.text == "--help":
			return payload{}
		case a.text == "--norc" || a.text == "--noprofile" || a.text == "--posix":
		case strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "+"):
			letters := strings.TrimLeft(a.text, "-+")
			if strings.Trim(letters, "ceuxv") != "" || letters == "" || strings.HasPrefix(a.text, "--") {
				return unknown
			}
			if !strings.Contains(letters, "c") {
				continue
			}
			if i+1 >= len(args) || !args[i+1].fixed || strings.HasPrefix(args[i+1].text, "-") {
				return unknown
			}
			return payload{line: args[i+1].text, opaque: strings.TrimSpace(args[i+1].text) == ""}
		default:
			return payload{} // a file
		}
	}
	return unknown
}

// evaluated returns the line that eval is given.
func evaluated(args []word) payload {
	if len(args) > 0 && args[0].fixed && args[0].text == "--" {
		args = args[1:]
	}
	texts := make([]string, len(args))
	for i, a := range args {
		if !a.fixed {
			return unknown
		}
		texts[i] = a.text
	}
	line := strings.Join(texts, " ")
	if strings.TrimSpace(line) == "" {
		return payload{}
	}
	return payload{line: line}
}

// trapped returns the line that trap is given for later.
func trapped(args []word) payload {
	if len(args) > 0 && args[0].fixed && args[0].text == "--" {
		args = args[1:]
	}
	switch {
	case len(args) < 2:
		return payload{} // queries or resets
	case !args[0].fixed:
		return unknown
	case strings.TrimSpace(args[0].text) == "" || strings.HasPrefix(args[0].text, "-"):
		return payload{}
	default:
		return payload{line: args[0].text}
	}
}

// foundCommand returns the command that find runs on its matches. If there are
// several, it is unknown.
func foundCommand(args []word) payload {
	var inner payload
	for i := 0; i < len(args); i++ {
		if !args[i].fixed {
			return unknown
		}
		switch args[i].text {
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			return unknown
		case "-exec", "-execdir", "-ok", "-okdir":
			end := slices.IndexFunc(args[i:], func(w word) bool { return w.fixed && (w.text == ";" || w.text == "+") })
			if end < 2 || inner.words != nil {
				return unknown
			}
			inner.words = found(args[i+1 : i+end])
			i += end
		}
	}
	return inner
}

// found returns words with the file names that find substitutes marked as
// unknown.
func found(words []word) []word {
	out := slices.Clone(words)
	for i, w := range out {
		if strings.Contains(w.text, "{}") {
			out[i] = word{text: w.text, fed: true}
		}
	}
	return out
}
