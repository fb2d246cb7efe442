package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"chela"
)

// Judge tells what a line of shell would do: it executes, and whether it
// happened cannot be found out later.
//
// Subjects are the simple commands of the line, and those that wrappers among
// them wrap, each printed canonically. Where the line holds anything else than
// simple commands joined by ; && || and pipes — substitution, here-documents,
// redirections to files, loops, functions, assignments, commands that change
// what later ones mean, wrappers whose payload is not literal — the subject is
// the line as it is, and Exact. In arguments, variables and file name patterns
// stand as they are written.
//
// Risk is a hint about harm that is easy to see, for a person to read; a line
// without one is not thereby safe.
func Judge(line string) chela.Judgement {
	j := chela.Judgement{Effect: chela.EffectExecute, Resume: chela.ResumeUnknown, Preview: visible(line)}
	r := read(line)
	j.Subjects, j.Exact = r.subjects(), r.opaque
	if r.opaque || len(j.Subjects) == 0 {
		j.Subjects, j.Exact = []string{exact(line)}, true
	}
	j.Risk = strings.Join(r.risks, "; ")
	return j
}

// exact returns the subject for a whole line: the line itself, quoted where it
// holds what cannot be seen. Different lines have different subjects.
func exact(line string) string {
	const mark = "quoted: "
	if visible(line) == line && !strings.HasPrefix(line, mark) {
		return line
	}
	return mark + strconv.QuoteToASCII(line)
}

// A reading is what was understood of a line.
type reading struct {
	commands []command
	opaque   bool     // there is something that could not be taken apart
	risks    []string // without repeats, in order of appearance
	depth    int      // of lines within lines
	text     string   // the line that is being read
}

// A command is a simple command, with its name as first word.
type command struct {
	words []word
	piped bool // its input is what another command prints
}

// maxDepth is how deep lines within lines are read.
const maxDepth = 5

func read(line string) *reading {
	r := &reading{}
	if problem := unusable(line); problem != "" {
		r.opaque = true
		r.risk(problem)
		return r
	}
	r.line(line)
	return r
}

func (r *reading) line(line string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		r.opaque = true
		r.risk("it is not valid shell: " + visible(err.Error()))
		return
	}
	outer := r.text
	r.text = line
	defer func() { r.text = outer }()
	for _, s := range file.Stmts {
		r.stmt(s, false)
	}
}

func (r *reading) risk(reason string) {
	if !slices.Contains(r.risks, reason) {
		r.risks = append(r.risks, reason)
	}
}

func (r *reading) subjects() []string {
	var all []string
	for _, c := range r.commands {
		if s := canonical(c.words); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// stmt reads one statement; piped says that its input is another's output.
func (r *reading) stmt(s *syntax.Stmt, piped bool) {
	for _, redirect := range s.Redirs {
		r.redirect(redirect)
	}
	if s.Coprocess || s.Disown {
		r.opaque = true
	}
	switch c := s.Cmd.(type) {
	case nil:
		r.opaque = true // a redirection alone
	case *syntax.CallExpr:
		r.call(c, piped)
	case *syntax.BinaryCmd:
		r.stmt(c.X, piped)
		r.stmt(c.Y, c.Op == syntax.Pipe || c.Op == syntax.PipeAll)
	case *syntax.Subshell:
		r.block(c.Stmts, piped)
	case *syntax.Block:
		r.block(c.Stmts, piped)
	default:
		r.opaque = true
		r.within(c)
	}
}

func (r *reading) block(stmts []*syntax.Stmt, piped bool) {
	for _, s := range stmts {
		r.stmt(s, piped)
	}
}

// within looks for risks in what cannot be taken apart.
func (r *reading) within(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch p := n.(type) {
		case *syntax.Stmt:
			r.stmt(p, false)
			return false
		case *syntax.FuncDecl:
			if callsItself(p) {
				r.risk("it has a function that calls itself")
			}
		}
		return true
	})
}

func callsItself(f *syntax.FuncDecl) bool {
	found := false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && f.Name != nil && c.Args[0].Lit() == f.Name.Value {
			found = true
		}
		return !found
	})
	return found
}

// call reads a simple command.
func (r *reading) call(c *syntax.CallExpr, piped bool) {
	if len(c.Assigns) > 0 || len(c.Args) == 0 {
		r.opaque = true
		for _, a := range c.Assigns {
			r.within(a)
		}
	}
	words := make([]word, 0, len(c.Args))
	for _, arg := range c.Args {
		if !simpleExpansions(arg) {
			r.opaque = true
			r.within(arg)
		}
		w := readWord(arg, r.text)
		if visible(w.text) != w.text {
			r.opaque = true
		}
		words = append(words, w)
	}
	if len(words) > 0 {
		r.command(command{words: words, piped: piped})
	}
}

// command takes in one command, and what it wraps.
func (r *reading) command(c command) {
	r.commands = append(r.commands, c)
	name := c.words[0]
	if !name.fixed || name.text == "" {
		r.opaque = true
		r.risk("what it runs is not known before it runs")
		return
	}
	for _, reason := range c.risks() {
		r.risk(reason)
	}
	if changesMeaning(c) {
		r.opaque = true
	}
	inner := c.unwrap()
	if inner.opaque {
		r.opaque = true
	}
	if len(inner.words) == 0 && inner.line == "" {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxDepth {
		r.opaque = true
		r.risk("it is nested too deep to be read")
		return
	}
	if inner.line != "" {
		r.line(inner.line)
		return
	}
	r.command(command{words: inner.words, piped: c.piped})
}

// redirect reads a redirection. Joining two outputs and throwing one away
// leave a line what it is.
func (r *reading) redirect(d *syntax.Redirect) {
	switch d.Op {
	case syntax.DplOut, syntax.DplIn:
		if target := readWord(d.Word, r.text); target.fixed && strings.Trim(target.text, "0123456789-") == "" {
			return
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob, syntax.RdrInOut:
		target := readWord(d.Word, r.text)
		if target.fixed && target.text == "/dev/null" {
			return
		}
		if reason := writeRisk(target); reason != "" {
			r.risk(reason)
		}
	}
	r.opaque = true
	for _, w := range []*syntax.Word{d.Word, d.Hdoc} {
		if w != nil {
			r.within(w)
		}
	}
}

// meaning are commands that change what later ones do, or run text that is not
// in the line.
var meaning = []string{
	".", "alias", "bind", "compgen", "complete", "compopt", "enable", "eval", "fc", "getopts", "hash",
	"mapfile", "read", "readarray", "set", "shopt", "source", "trap", "unalias", "unset",
}

// meaningOptions are commands that do so only with one of these options. A
// name in them may be that of an element, whose index is computed, which may
// run a command.
var meaningOptions = map[string]string{"[": "vR", "jobs": "x", "printf": "v", "test": "vR", "wait": "np"}

func changesMeaning(c command) bool {
	if slices.Contains(meaning, c.name()) {
		return true
	}
	options, ok := meaningOptions[c.name()]
	return ok && slices.ContainsFunc(c.words[1:], func(w word) bool {
		return !w.fixed || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text[1:], options)
	})
}

// name returns the last part of the path of what a command runs.
func (c command) name() string {
	name := c.words[0].text
	return name[strings.LastIndexByte(name, '/')+1:]
}
