package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A site is one possible mutant: a span of a file and how it changes.
type site struct {
	file       string
	line       int
	function   string // that holds it, or "" at package level
	start, end int    // byte offsets
	id         int    // of the drawn mutant, from 1
	was, is    string // for people

	// rewrite returns the text that behaves like original unless the mutant id
	// is active.
	rewrite func(id int, original string) string
}

// name identifies the mutant in the list of equivalents. It has no line number,
// so that it survives changes elsewhere in the file.
func (s site) name() string {
	return fmt.Sprintf("%s %s: %s => %s", s.file, s.function, s.was, s.is)
}

// A finder collects the sites of one file.
type finder struct {
	path     string
	source   []byte
	files    *token.FileSet
	info     *types.Info
	function string
	sites    []site
}

// find walks the declarations of a file.
func (f *finder) find(file *ast.File) []site {
	for _, decl := range file.Decls {
		f.function = ""
		if fn, ok := decl.(*ast.FuncDecl); ok {
			f.function = fn.Name.Name
			if fn.Recv != nil {
				f.function = receiver(fn) + "." + fn.Name.Name
			}
		}
		if general, ok := decl.(*ast.GenDecl); ok && general.Tok != token.VAR {
			continue
		}
		ast.Inspect(decl, f.visit)
	}
	return f.sites
}

func receiver(fn *ast.FuncDecl) string {
	name := types.ExprString(fn.Recv.List[0].Type)
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "*"), "[")
	return name
}

// visit looks at one node. Constant expressions stay as they are.
func (f *finder) visit(n ast.Node) bool {
	if e, ok := n.(ast.Expr); ok && f.info.Types[e].Value != nil {
		f.literal(e)
		return false
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
		// The expressions of a case are compared in order and may be constant.
	case *ast.CommClause:
		f.statements(n.Body)
	}
	return true
}

// swaps gives the other operators to try for each.
var swaps = map[token.Token][]token.Token{
	token.LSS: {token.LEQ}, token.LEQ: {token.LSS}, token.GTR: {token.GEQ}, token.GEQ: {token.GTR},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.ADD}, token.QUO: {token.MUL}, token.REM: {token.MUL},
}

// binary swaps operators and negates comparisons.
func (f *finder) binary(e *ast.BinaryExpr) {
	switch e.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.negate(e)
	}
	for _, op := range swaps[e.Op] {
		changed := "(" + f.text(e.X) + ") " + op.String() + " (" + f.text(e.Y) + ")"
		switch e.Op {
		case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
			if !isNumber(f.info.TypeOf(e)) || f.calls(e) {
				continue // both values are computed, so neither may have an effect
			}
			f.add(e, e.Op.String()+" to "+op.String(), func(id int, original string) string {
				return fmt.Sprintf("mutantValue_(%d, %s, %s)", id, original, changed)
			})
		default:
			f.add(e, e.Op.String()+" to "+op.String(), func(id int, original string) string {
				return fmt.Sprintf("(func() bool { if mutant_(%d) { return %s }; return %s }())", id, changed, original)
			})
		}
	}
}

// condition negates the condition of an if, unless binary does that.
func (f *finder) condition(e ast.Expr) {
	if b, ok := e.(*ast.BinaryExpr); !ok || b.Op == token.LAND || b.Op == token.LOR {
		f.negate(e)
	}
}

func (f *finder) negate(e ast.Expr) {
	f.add(e, "negated", func(id int, original string) string {
		return fmt.Sprintf("((%s) != mutant_(%d))", original, id)
	})
}

// literal changes small numbers by one, doubles others, and turns truth values
// around. Named constants stay, as tests rightly use the same names.
func (f *finder) literal(e ast.Expr) {
	t := f.info.Types[e]
	basic, ok := t.Type.(*types.Basic)
	if !ok {
		return
	}
	switch e := e.(type) {
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			f.negate(e)
		}
	case *ast.BasicLit:
		n, exact := constant.Int64Val(constant.ToInt(t.Value))
		if basic.Kind() != types.Int || !exact {
			return
		}
		changed := n + 1
		if n > 20 {
			changed = 2 * n
		}
		f.add(e, "to "+strconv.FormatInt(changed, 10), func(id int, original string) string {
			return fmt.Sprintf("mutantValue_(%d, int(%s), %d)", id, original, changed)
		})
	}
}

// statements removes calls and assignments.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); !ok || types.ExprString(call.Fun) == "panic" {
				continue
			}
		case *ast.IncDecStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || slices.ContainsFunc(s.Lhs, isBlank) {
				continue
			}
		default:
			continue
		}
		f.add(s, "removed", func(id int, original string) string {
			return fmt.Sprintf("if !mutant_(%d) { %s }", id, original)
		})
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

func isNumber(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// calls reports whether an expression calls more than len, cap, min, max or a
// conversion.
func (f *finder) calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			fun := f.info.Types[call.Fun]
			found = found || !fun.IsType() && !fun.IsBuiltin()
		}
		return !found
	})
	return found
}

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) offset(p token.Pos) int { return f.files.Position(p).Offset }

func (f *finder) add(n ast.Node, is string, rewrite func(int, string) string) {
	f.sites = append(f.sites, site{
		file: f.path, line: f.files.Position(n.Pos()).Line, function: f.function,
		start: f.offset(n.Pos()), end: f.offset(n.End()),
		was: strings.Join(strings.Fields(f.text(n)), " "), is: is, rewrite: rewrite,
	})
}

// render returns the bytes from one offset to another with the sites in
// between built in. Sites are sorted so that the one around others comes
// first.
func render(source []byte, from, to int, sites []site) string {
	var out strings.Builder
	for len(sites) > 0 {
		outer := sites[0]
		inner := 1
		for inner < len(sites) && sites[inner].start < outer.end {
			inner++
		}
		out.Write(source[from:outer.start])
		out.WriteString(outer.rewrite(outer.id, render(source, outer.start, outer.end, sites[1:inner])))
		from, sites = outer.end, sites[inner:]
	}
	out.Write(source[from:to])
	return out.String()
}

// ordered sorts sites for render.
func ordered(sites []site) []site {
	return slices.SortedStableFunc(slices.Values(sites), func(a, b site) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
}
