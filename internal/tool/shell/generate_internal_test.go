package shell

import (
	"math/rand/v2"
	"strings"
)

// generator writes lines of shell that are hard to read. Everything that it
// writes is safe to run in an empty directory with an empty PATH: it has no
// path, and no name of a program, that is not a recorder there.
type generator struct {
	*rand.Rand
	forks bool // the line may need further processes, which are slow
}

// pick returns one of some texts. Most lines do without those that fork.
func (g generator) pick(from []string) string {
	for {
		text := from[g.IntN(len(from))]
		if g.forks || !strings.ContainsAny(text, "`|&(") && text != "coproc" || text == "&&" || text == " && " || text == " || " {
			return text
		}
	}
}

var (
	programs = []string{"git", "rm", "ls", "cat", "make", "tee", "curl", "go", "python", "f", "g", "h", "echo", "printf", "test", "[", ":", "true", "false", "cd"}
	// meanings run another command, or change what later ones mean.
	meanings = []string{
		"eval", "sh -c", "bash -c", "trap", "alias", "unalias", "set", "shopt", "source", ".", "read", "unset", "export", "declare", "local",
		"readonly", "typeset", "let", "hash", "enable", "exec", "command", "nohup", "env", "sudo", "xargs", "time", "time -p", "coproc", "!", "! !", "getopts x y", "mapfile", "wait",
	}
	plainWords = []string{
		"status", "-rf", "x", "a.txt", "--", "-c", "push", "--force", "1", "a=b", "A=1", "A+=x", "a[1]=x", "x:y", "@", "%", "^", "+x", "a,b", "-", "do", "done", "if", "fi", "in", "esac", "case", "then", "else", "for", "while", "{", "}", "!", "[[", "]]", "function", "select", "coproc", "time", "until", "elif",
	}
	oddWords = []string{
		"'a b'", `"a b"`, `'a"b'`, `"a'b"`, `a\ b`, `\'`, `\"`, `\\`, `'\'`, `"\\"`, `"\$x"`, `"\a"`, `"\` + "\n" + `"`, "a\\\nb", "''", `""`, "$'a\\nb'", "$'\\''", "$'\\x41'", "$'\\cA'", `$"a"`, "$x", "${x}", `"$x"`, "${x:-y}", "${x:=y}", "${x#a}",
		"${x/a/b}", "${x@Q}", "${#x}", "${!x}", "$#", "$@", `"$@"`, "$?", "$$", "$!", "$-", "$0", "$1", "$", "$(ls)", "`ls`", "`ls \\`cat\\``", "\"$(ls \")\")\"", `"$(ls ")")"`, "$((1+1))", "$[1+1]", "$((x))", "<(ls)", ">(cat)", "{a,b}", "{1..3}", "{a", "a}", "{}", "*", "?", "[a]", "[!a]", "~", "~x", "x=~",
		"!(a)", "@(a|b)", "+(x)", "?(a)", "*(a)", "#", "a#b", "#a", `\#`, "'#'", "$#a", "${#}", "${x#}", "${x##*\"}\"}", `"${x:-"a b"}"`, `"${x:-'}'}"`, "${x:-'}'}", "!!", "!x", "^a^b", "a\\", "=", "==", "=a", "1>", "2>x", "&1", `\a`, `\` + "\t", `"a\` + "\n" + `b"`, "'a\\\nb'", `"!"`,
		"é", "日本", "\"é\"", "ß=1", "😀", "x\u0301",
	}
	separators = []string{
		" ", " ", " ", " ", "  ", "\t", "\n", "; ", ";", " && ", " || ", " | ", "|", "|&", " & ", "&", "\\\n", " \\\n ", "\n\n", "\n;", ";;", ";&", ";;&", "&&\n", "|\n", "||\n#c\n", " #", " # c\n", "#\\\n", " # \\\n", ";#\n", "\n#x\n", "\\\\\n", "\\\\\\\n", "(", ")", " ( ", " ) ", "{ ", "; }", " }", "((", "))", "[[ ", " ]]", "'", "\"", "`", "\\", "$(", "${", "}", "$((", "<<E\n", "\nE\n", "<<<", "<", ">", ">>", ">|", "&>", "<>", "2>&1", ">&", "<&", "!", "=", "==", "=~",
		"", "",
	}
	foreign      = []string{"\r", "\r\n", "\\\r\n", "\x00", "\x01", "\x7f", "\x1b", "\v", "\f", "\u00a0", "\u0085", "\u2003", "\u2028", "\u3000", "\u200b", "\ufeff", "\xff", "\xc2", "\xe3\x80", "\x80", "\u00ad"}
	redirections = []string{" >x", " >>x", " 2>&1", " 2>/dev/null", " >/dev/null", " &>/dev/null", " <x", " <<<a", " <<E\na\nE\n", " <<'E'\n$(ls)\nE\n", " <<-E\n\ta $(cat)\n\tE\n", " <<\"E\"\n`ls`\nE\n", " <<E\n`ls`\\\n$(cat)\nE\n", " >&2", " 3>&1", " {x}>y", " <&-", ">x", " 2>", " <<E <<F\n$(ls)\nE\n$(cat)\nF\n", " <<E\\\nF\n$(ls)\nEF\n"}
)

// line returns the n-th line of a seed: of the grammar, of loose tokens, or
// one of those with a wound.
func (g generator) line() string {
	var line string
	g.forks = g.IntN(30) == 0
	switch g.IntN(10) {
	case 0:
		line = g.soup()
	default:
		line = g.list(2)
	}
	switch g.IntN(14) {
	case 0:
		line = g.wounded(line, separators)
	case 1:
		if g.IntN(2) == 0 {
			line = g.wounded(line, foreign)
		}
	case 2:
		line = g.wounded(line, oddWords)
	}
	if g.IntN(60) == 0 { // across the buffer of a parser
		line = "ls " + strings.Repeat("a", 1010+g.IntN(20)) + " " + line
	}
	return line
}

func (g generator) wounded(line string, with []string) string {
	at := g.IntN(len(line) + 1)
	until := min(len(line), at+g.IntN(3)*g.IntN(2))
	return line[:at] + g.pick(with) + line[until:]
}

func (g generator) soup() string {
	var b strings.Builder
	for range 1 + g.IntN(6) {
		switch g.IntN(8) {
		case 0, 1, 2:
			b.WriteString(g.pick(programs))
		case 3:
			b.WriteString(g.pick(plainWords))
		case 4, 5:
			b.WriteString(g.pick(oddWords))
		case 6:
			b.WriteString(g.pick(meanings) + " ")
		default:
			b.WriteString(g.pick(redirections))
		}
		b.WriteString(g.pick(separators))
	}
	return b.String()
}

func (g generator) word() string {
	if g.IntN(2) == 0 {
		return g.pick(plainWords)
	}
	if g.IntN(4) == 0 {
		return g.pick(oddWords) + g.pick(oddWords)
	}
	return g.pick(oddWords)
}

func (g generator) simple() string {
	var b strings.Builder
	switch g.IntN(24) {
	case 0:
		b.WriteString(g.pick([]string{"A=1 ", "x= ", "x=$(ls) ", "a=(1 2) ", "A=1 x=2 ", "x[1]=2 ", "A=`cat` "}))
	case 1, 2:
		b.WriteString(g.pick(meanings) + " ")
		if g.IntN(3) == 0 {
			return b.String() + quoted(g.list(1))
		}
	}
	b.WriteString(g.pick(programs))
	for range g.IntN(3) {
		b.WriteString(" " + g.word())
	}
	if g.IntN(6) == 0 {
		b.WriteString(g.pick(redirections))
	}
	return b.String()
}

func quoted(line string) string { return "'" + strings.ReplaceAll(line, "'", `'\''`) + "'" }

func (g generator) compound(depth int) string {
	in := func() string { return g.list(depth - 1) }
	kinds := 9
	if g.forks {
		kinds = 16
	}
	switch g.IntN(kinds) {
	case 15:
		return "(" + in() + ")"
	case 0:
		return g.pick([]string{"time ", "! ", "time -p ", "coproc "}) + g.simple()
	case 1:
		return "{ " + in() + "; }"
	case 2:
		return "if " + in() + "; then " + in() + "; else " + in() + "; fi"
	case 3:
		return "for x in " + g.word() + " " + g.word() + "; do " + in() + "; done"
	case 4:
		return "while " + g.simple() + "; do " + in() + "; done"
	case 5:
		return "case " + g.word() + " in " + g.word() + ") " + in() + ";; (*) " + in() + g.pick([]string{";;", ";&", ";;&", ""}) + " esac"
	case 6:
		return g.pick([]string{"f", "g"}) + "() { " + in() + "; }; f " + g.word()
	case 9:
		return "function f { " + in() + "; }\nf"
	case 7:
		return "[[ " + g.word() + " " + g.pick([]string{"=", "==", "=~", "<", "-nt", "&&"}) + " " + g.word() + " ]] && " + g.simple()
	case 8:
		return "((" + g.pick([]string{"x=1", "x++", "1", "0", "x[$(ls)]", "x = 'a'", "1 ) )", "ls); cat", "1 # 2"}) + "))" + g.pick([]string{"", " && ls"})
	case 10:
		return g.simple() + " \"$(" + in() + ")\""
	case 11:
		return g.simple() + " $(" + in() + ")"
	case 12:
		return g.simple() + " `" + strings.ReplaceAll(g.simple(), "`", "\\`") + "`"
	case 13:
		return g.simple() + " | { " + in() + "; }"
	case 14:
		return g.simple() + " <<E\n" + g.word() + g.word() + "\n$(" + in() + ")\n" + g.pick([]string{"E", "E ", " E", "\tE", ""}) + "\n" + g.simple()
	default:
		return "cat <(" + in() + ") # " + g.word() + "\n" + g.simple()
	}
}

// list returns a few commands one after the other.
func (g generator) list(depth int) string {
	var b strings.Builder
	for i := range 1 + g.IntN(2) {
		if i > 0 {
			b.WriteString(g.pick([]string{"; ", "; ", " && ", " || ", " | ", " & ", "\n", "\n", " # c\n", " \\\n; ", " |& ", ";", "&&", "|", "\n# \\\n", " #'\n", "#\n"}))
		}
		if depth > 0 && g.IntN(8) == 0 {
			b.WriteString(g.compound(depth))
		} else {
			b.WriteString(g.simple())
		}
	}
	return b.String()
}
