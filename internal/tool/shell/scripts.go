package shell

import (
	"regexp"
	"slices"
	"strings"

	"chela/internal/platform/lazyregexp"
)

// findTests are the tests and actions of find that do nothing but test and
// print, with the number of their arguments.
var findTests = map[string]int{
	"-maxdepth": 1, "-mindepth": 1, "-depth": 0, "-d": 0, "-mount": 0, "-xdev": 0, "-noleaf": 0, "-daystart": 0, "-follow": 0, "-H": 0, "-L": 0, "-P": 0,
	"-regextype": 1, "-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-iwholename": 1, "-regex": 1, "-iregex": 1, "-lname": 1, "-ilname": 1,
	"-type": 1, "-xtype": 1, "-size": 1, "-empty": 0, "-mtime": 1, "-mmin": 1, "-atime": 1, "-amin": 1, "-ctime": 1, "-cmin": 1, "-newer": 1, "-anewer": 1,
	"-cnewer": 1, "-newermt": 1, "-newerct": 1, "-perm": 1, "-user": 1, "-group": 1, "-uid": 1, "-gid": 1, "-nouser": 0, "-nogroup": 0, "-links": 1, "-inum": 1, "-samefile": 1,
	"-readable": 0, "-writable": 0, "-executable": 0, "-true": 0, "-false": 0, "-print": 0, "-print0": 0, "-printf": 1, "-ls": 0, "-prune": 0, "-quit": 0,
	"-not": 0, "-a": 0, "-and": 0, "-o": 0, "-or": 0, "(": 0, ")": 0, "!": 0, ",": 0,
}

// findReads reports whether find only tests and prints. Commands that it runs
// are judged by themselves.
func findReads(args []word) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch n, known := findTests[a.text]; {
		case !a.fixed && !anchored(a):
			return false
		case known && a.fixed:
			if i += n; i >= len(args) || slices.ContainsFunc(args[i-n+1:i+1], func(w word) bool { return !w.fixed }) {
				return false
			}
		case among("-exec -execdir", a.text):
			end := slices.IndexFunc(args[i:], func(w word) bool { return w.fixed && (w.text == ";" || w.text == "+") })
			if end < 2 {
				return false
			}
			i += end
		case strings.HasPrefix(a.text, "-"):
			return false
		}
	}
	return true
}

// awkActs matches text of an awk program with which it may run a command or
// write a file.
var awkActs = lazyregexp.New(`system|getline|close|load|[|>@\\]`)

// awkReads reports whether awk only reads its input and prints.
func awkReads(args []word) bool {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case !a.fixed:
			return false
		case a.text == "-F" || a.text == "-v":
			if i++; i >= len(args) || !args[i].fixed {
				return false
			}
		case strings.HasPrefix(a.text, "-F") || strings.HasPrefix(a.text, "-v"):
		case strings.HasPrefix(a.text, "-"):
			return false
		default:
			return !awkActs().MatchString(a.text) && grammar{}.accepts(args[i+1:])
		}
	}
	return false
}

// sedOptions are the options of sed without those that write or read a script
// from a file.
var sedOptions = grammar{flags: "nEruzs", valued: "el", long: "expression= line-length= quiet silent regexp-extended null-data separate posix unbuffered"}

// sedReads reports whether sed only edits its output.
func sedReads(args []word) bool {
	if !sedOptions.accepts(args) {
		return false
	}
	given, first := false, true
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch long, value, _ := strings.Cut(text, "="); {
		case long == "--expression" && value == "", strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.HasSuffix(text, "e"):
			if i++; !sedScript(args[i].text) {
				return false
			}
			given = true
		case long == "--expression":
			if !sedScript(value) {
				return false
			}
			given = true
		case strings.HasPrefix(text, "-") && strings.ContainsAny(text, "el") && !strings.HasPrefix(text, "--"):
			return false // a value in the same argument
		case long == "--line-length" && value == "":
			i++
		case strings.HasPrefix(text, "-"):
		case first && !given:
			if !args[i].fixed || !sedScript(text) {
				return false
			}
			first = false
		}
	}
	return true
}

// The parts of a script of sed. A regular expression or replacement has no
// brackets that could hide its end from one sed and not from another.
const (
	sedAddress = `(?:\d+|\$|/(?:[^/\\\n\[]|\\[^\n]|\[[^/\]\\\n]+\])*/I?)`
	sedRange   = `(?:` + sedAddress + `(?:\s*[,~]\s*[+~]?` + sedAddress + `)?\s*!?)?`
	sedText    = `(?:[^D\\\n\[]|\\[^\n]|\[[^D\]\\\n]+\])*`
)

// sedCommand matches one command of sed that neither writes nor runs anything.
var sedCommand = func() *regexp.Regexp {
	kinds := []string{`[{}=dDgGhHnNpPxz]`, `[lqQ]\s*\d*`}
	for _, d := range []string{"/", `\|`, ",", "#", ":", "@", "!", "%", "_"} {
		part := strings.ReplaceAll(sedText, "D", d)
		kinds = append(kinds, "s"+d+part+d+part+d+`[gpIiMm0-9]*`, "y"+d+part+d+part+d)
	}
	return regexp.MustCompile(`^[\s;]*` + sedRange + `\s*(?:` + strings.Join(kinds, "|") + `)\s*(?:$|[;\n]|([{}]))`)
}()

// sedScript reports whether all commands of a script are harmless.
func sedScript(script string) bool {
	rest := strings.TrimSpace(script)
	for rest != "" {
		m := sedCommand.FindStringSubmatchIndex(rest)
		if m == nil {
			return false
		}
		end := m[1]
		if m[2] >= 0 {
			end = m[2] // a brace is the next command
		}
		rest = strings.TrimSpace(rest[end:])
	}
	return true
}
