package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"chela"
	"chela/internal/platform/excerpt"
)

// Judge judges a line of shell. Its effect is to execute, and it cannot be
// determined afterwards whether it happened.
//
// Subjects are the simple commands of the line, including the payloads of
// wrappers, each printed canonically. If the line contains anything besides
// simple commands joined by ; && || and pipes — substitution, here-documents,
// redirections to files, loops, functions, assignments, commands that change
// the meaning of later ones, wrappers whose payload is not literal — the only
// subject is the line as it is, the judgement is Exact, and Parts are the
// commands that could be read in it. In arguments, variables and file name
// patterns stand unexpanded.
//
// A line that the real shell may read differently from the parser is opaque: it
// has no subject, so no pattern allows it. Such lines contain control
// characters, Unicode blanks, or constructs on which a differential test
// against bash found a difference.
//
// A line that changes files obeyed by programs is Exact too, and keeps its
// commands as subjects: a standing answer allows it again only if it names them
// literally. So is a line with a command whose arguments may make it do more
// than its program's name says: write a file, run another program.
//
// ReadOnly says that every command of the line is known to only read, with all
// its options.
//
// Risk is a hint about obvious harm, for a person to read; its absence does not
// mean that a line is safe.
func Judge(line string) chela.Judgement {
	j, _ := judge(line)
	return j
}

// judge is Judge, and returns how far the line reaches.
func judge(line string) (chela.Judgement, reach) {
	j := chela.Judgement{Effect: chela.EffectExecute, Resume: chela.ResumeUnknown, Preview: line}
	r := read(line)
	j.Subjects, j.Exact, j.Unknown = r.subjects(), r.opaque, r.unknown
	if r.opaque || len(j.Subjects) == 0 {
		j.Parts, j.Subjects, j.Exact = j.Subjects, []string{line}, true
	}
	j.Parts = append(j.Parts, r.spellings()...)
	if r.obeyed {
		j.Act = chela.ActInstruct
	}
	j.Exact = j.Exact || r.literal
	j.ReadOnly = r.reads() && !j.Exact
	if r.ambiguous {
		j.Subjects, j.Unknown = nil, true
	}
	j.Risk = strings.Join(r.risks, "; ")
	return j, r.reach
}

// A reading is the analysis of a line.
type reading struct {
	commands  []command
	opaque    bool     // some part could not be taken apart
	ambiguous bool     // a shell may read it differently from the parser
	unknown   bool     // it may run commands that are not listed
	obeyed    bool     // it changes files obeyed by programs
	literal   bool     // the same, or it has surprising arguments: only a literal answer allows it
	risks     []string // without repeats, in order of appearance
	reach     reach    // the furthest of its commands
	depth     int      // of lines within lines
	text      string   // the current line
}

// A command is a simple command, with its name as first word.
type command struct {
	words []word
	piped bool // its input is the output of another command
}

// maxDepth limits the nesting of lines within lines.
const maxDepth = 5

// read analyses a line.
func read(line string) *reading {
	r := &reading{}
	r.doubt(ambiguity(line))
	if problem := unusable(line); problem != "" {
		r.ambiguous = true
		r.risk(problem)
		return r
	}
	r.line(line)
	return r
}

func (r *reading) line(line string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil {
		r.doubt("it is not valid shell: " + err.Error())
		return
	}
	r.doubt(misread(file, line))
	outer := r.text
	r.text = line
	defer func() { r.text = outer }()
	for _, s := range file.Stmts {
		r.stmt(s, false)
	}
}

// doubt notes why a shell may read the line differently from the parser, unless
// the reason is empty.
func (r *reading) doubt(reason string) {
	if reason != "" {
		r.opaque, r.ambiguous = true, true
		r.risk(reason)
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

// maxSkipped bounds the words before a subcommand that spellings leaves out.
const maxSkipped = 16

// spellings returns the commands of the line in other forms of the same meaning, for
// rules that deny or ask: with the program's name instead of its path, and without
// the options before a subcommand, each of which may have a value of its own. The
// program and the subcommand of "/usr/bin/git -C . push" are "git push".
func (r *reading) spellings() (all []string) {
	for _, c := range r.commands {
		words := slices.Clone(c.words)
		if words[0].fixed {
			words[0].text = c.name()
		}
		forms := []string{canonical(words)}
		for i := 2; len(words) > 1 && strings.HasPrefix(words[1].text, "-") && i < min(len(words), maxSkipped); i++ {
			forms = append(forms, canonical(slices.Concat(words[:1], words[i:])))
		}
		for _, form := range forms {
			if form != canonical(c.words) && !slices.Contains(all, form) {
				all = append(all, form)
			}
		}
	}
	return all
}

// reads reports whether the line only reads.
func (r *reading) reads() bool {
	return len(r.commands) > 0 && !r.opaque && !r.ambiguous && !r.unknown && !r.literal && len(r.risks) == 0 &&
		!slices.ContainsFunc(r.commands, func(c command) bool { return c.nature() != natureReads })
}

// stmt analyses one statement; piped says that its input is another's output.
func (r *reading) stmt(s *syntax.Stmt, piped bool) {
	for _, redirect := range s.Redirs {
		r.redirect(redirect)
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
	case *syntax.DeclClause:
		r.opaque = true
		r.declaration(c)
	case *syntax.LetClause:
		r.opaque = true
		r.commands = append(r.commands, command{words: []word{{text: "let"}, {text: source(c, r.text)}}})
		r.within(c)
	case *syntax.TimeClause:
		r.opaque = true
		r.timed(c, piped)
	case *syntax.CoprocClause:
		// Within a substitution bash 5.2 takes the name of the coprocess for
		// the command.
		r.opaque, r.unknown = true, true
		r.within(c)
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

// declaration analyses a command such as export, which may assign.
func (r *reading) declaration(d *syntax.DeclClause) {
	words := []word{{text: d.Variant.Value}}
	for _, a := range d.Args {
		if a.Naked && a.Value != nil {
			words = append(words, readWord(a.Value, r.text))
		} else {
			words = append(words, word{text: source(a, r.text)})
		}
		r.within(a)
	}
	r.commands = append(r.commands, command{words: words})
}

// timed analyses a command after the keyword time. Behind a pipe, time is the
// name of a command.
func (r *reading) timed(c *syntax.TimeClause, piped bool) {
	before := len(r.commands)
	if c.Stmt != nil {
		r.stmt(c.Stmt, piped)
	}
	words := []word{{text: "time", fixed: true}}
	if c.PosixFormat {
		words = append(words, word{text: "-p"})
	}
	if len(r.commands) > before {
		words = append(words, word{text: source(c.Stmt, r.text)})
	}
	r.commands = append(r.commands, command{words: words})
}

// within looks for risks in the parts that cannot be taken apart.
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

// call analyses a simple command.
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
		if excerpt.Hides(w.text) {
			r.opaque = true
		}
		words = append(words, w)
	}
	if len(words) > 0 {
		r.command(command{words: words, piped: piped})
	}
}

// command adds one command and its payload.
func (r *reading) command(c command) {
	r.commands = append(r.commands, c)
	name := c.words[0]
	if !name.fixed || name.text == "" {
		r.opaque, r.unknown = true, true
		r.risk("the program it runs is not known in advance")
		return
	}
	for _, reason := range c.risks() {
		r.risk(reason)
	}
	for _, reason := range c.obeyedRisks() {
		r.risk(reason)
		r.obeyed, r.literal = true, true
	}
	r.literal = r.literal || c.nature() == natureSurprising
	r.reach = max(r.reach, c.reach())
	if changesMeaning(c) {
		r.opaque = true
		r.unknown = r.unknown || among(hiding, c.name())
	}
	inner := c.unwrap()
	if inner.opaque {
		r.opaque, r.unknown = true, true
	}
	if len(inner.words) == 0 && inner.line == "" {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxDepth {
		r.opaque, r.unknown = true, true
		r.risk("it is nested too deep to be read")
		return
	}
	if inner.line != "" {
		r.line(inner.line)
		return
	}
	r.command(command{words: inner.words, piped: c.piped})
}

// redirect analyses a redirection. Joining two outputs or discarding one does
// not make a line Exact.
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
		r.obeyed = r.obeyed || obeyedRisk(target) != ""
	}
	r.opaque = true
	for _, w := range []*syntax.Word{d.Word, d.Hdoc} {
		if w != nil {
			r.within(w)
		}
	}
}

// meaning are commands that change the meaning of later ones, or run text that
// is not in the line.
const meaning = `
	. alias bind compgen complete compopt enable eval fc getopts hash mapfile read readarray set shopt source trap unalias unset
`

// hiding is the subset of them that runs commands not written in the line.
const hiding = "alias bind compgen complete enable fc hash mapfile readarray"

// meaningOptions are commands that do so only with an option listed here. A
// name in them may name an array element; its index is evaluated, which may run
// a command.
var meaningOptions = map[string]string{"[": "vR", "jobs": "x", "printf": "v", "test": "vR", "wait": "np"}

func changesMeaning(c command) bool {
	if among(meaning, c.name()) {
		return true
	}
	options, ok := meaningOptions[c.name()]
	return ok && slices.ContainsFunc(c.words[1:], func(w word) bool {
		return !w.fixed || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text[1:], options)
	})
}

// name returns the last part of a command's path.
func (c command) name() string {
	name := c.words[0].text
	return name[strings.LastIndexByte(name, '/')+1:]
}
