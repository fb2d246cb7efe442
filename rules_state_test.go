package chela_test

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Where what is forbidden elsewhere has its place.
var (
	environmentReaders = []string{"internal/config"}
	clocks             = []string{"internal/app", "bench/load"} // hand the clock and the randomness out
	printers           = []string{"internal/surface/cli", "bench/dev", "cmd/...", "bench/..."}
)

func checkInit(m *module) (found []finding) {
	m.eachFunction(func(dir *folder, _ *source, fn *ast.FuncDecl) {
		if fn.Name.Name == "init" && fn.Recv == nil {
			found = append(found, m.finding(fn, dir.symbol(fn), "init runs on import"))
		}
	})
	m.eachSource(func(_ *folder, s *source) {
		for _, spec := range s.Imports {
			embeds := spec.Path.Value == `"embed"`
			if spec.Name != nil && spec.Name.Name == "_" && !embeds && !registersDriver(s, spec) {
				found = append(found, m.finding(spec, s.path, "%s is imported for what it does on import", spec.Path.Value))
			}
		}
	})
	return found
}

// registersDriver lets the store name the drivers of database/sql.
func registersDriver(s *source, spec *ast.ImportSpec) bool {
	drivers := []string{`"modernc.org/sqlite"`, `"github.com/jackc/pgx/v5/stdlib"`}
	return strings.HasPrefix(s.path, "internal/store/") && slices.Contains(drivers, spec.Path.Value)
}

// checkVariables finds package variables that are changed, or that are of no
// use unless they are changed behind a method.
func checkVariables(m *module) (found []finding) {
	for _, dir := range m.folders {
		byName := map[string][]*ast.File{}
		for _, s := range dir.sources {
			byName[s.Name.Name] = append(byName[s.Name.Name], s.File)
		}
		for _, files := range byName {
			found = append(found, m.changes(dir, files)...)
		}
		for _, s := range dir.sources {
			found = append(found, m.changeable(dir, s)...)
		}
	}
	return found
}

// noImports lets go/types resolve names without looking at other packages.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.ErrUnsupported }

// changes finds assignments to package variables of files or of what they
// import.
func (m *module) changes(dir *folder, files []*ast.File) (found []finding) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir.path, m.files, files, info) // what is imported cannot be known, so there are errors
	report := func(node ast.Node, target ast.Expr) {
		name := variable(pkg, info, target)
		if name != "" {
			found = append(found, m.finding(node, dir.name()+"."+name, "package variable %s is changed or may be", name))
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, target := range n.Lhs {
					report(n, target)
				}
			case *ast.IncDecStmt:
				report(n, n.X)
			case *ast.RangeStmt:
				report(n, n.Key)
				report(n, n.Value)
			case *ast.UnaryExpr:
				if _, literal := n.X.(*ast.CompositeLit); n.Op == token.AND && !literal {
					report(n, n.X)
				}
			case *ast.CallExpr:
				if fn, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"delete", "clear", "copy"}, fn.Name) {
					report(n, n.Args[0])
				}
			}
			return true
		})
	}
	return found
}

// variable returns the name of the package variable that target is part of,
// or "".
func variable(pkg *types.Package, info *types.Info, target ast.Expr) string {
	switch e := target.(type) {
	case *ast.ParenExpr:
		return variable(pkg, info, e.X)
	case *ast.StarExpr:
		return variable(pkg, info, e.X)
	case *ast.IndexExpr:
		return variable(pkg, info, e.X)
	case *ast.SliceExpr:
		return variable(pkg, info, e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			if _, imported := info.Uses[x].(*types.PkgName); imported {
				return x.Name + "." + e.Sel.Name
			}
		}
		return variable(pkg, info, e.X)
	case *ast.Ident:
		if v, ok := info.Uses[e].(*types.Var); ok && v.Parent() == pkg.Scope() {
			return e.Name
		}
	}
	return ""
}

// changeable finds package variables that hold nothing yet, or a lock, a
// counter or a channel.
func (m *module) changeable(dir *folder, s *source) (found []finding) {
	for _, decl := range s.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			v := spec.(*ast.ValueSpec)
			if isEmbedded(group.Doc) || isEmbedded(v.Doc) {
				continue
			}
			if holdsNothing(v) || holdsState(s, v) {
				name := v.Names[0].Name
				found = append(found, m.finding(v, dir.name()+"."+name, "package variable %s can only be of use by changing", name))
			}
		}
	}
	return found
}

func isEmbedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// holdsNothing reports whether v begins as the zero value of some struct. A
// list without items stays one.
func holdsNothing(v *ast.ValueSpec) bool {
	switch v.Type.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return len(v.Values) == 0
	default:
		return false
	}
}

func holdsState(s *source, v *ast.ValueSpec) bool {
	holds := false
	ast.Inspect(v, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit: // makes its own with each call
			return false
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			once := strings.HasPrefix(n.Sel.Name, "OnceValue") // computed when first needed, then constant
			holds = holds || ok && !once && (x.Name == s.localName("sync") || x.Name == s.localName("sync/atomic"))
		case *ast.CallExpr:
			fn, ok := n.Fun.(*ast.Ident)
			holds = holds || ok && fn.Name == "make"
		}
		return true
	})
	return holds
}

// checkGoroutines finds everything that goes on after the function that began
// it may have returned. Tests wait for their own.
func checkGoroutines(m *module) (found []finding) {
	m.eachSource(func(_ *folder, s *source) {
		if s.test {
			return
		}
		report := func(n ast.Node) {
			found = append(found, m.finding(n, s.path, "goroutine is begun outside the listed owners"))
		}
		for _, use := range append(s.uses("time", "AfterFunc"), s.uses("context", "AfterFunc")...) {
			report(use)
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				report(n)
			case *ast.CallExpr:
				if fn, ok := n.Fun.(*ast.SelectorExpr); ok && fn.Sel.Name == "Go" {
					report(n)
				}
			}
			return true
		})
	})
	return found
}

func checkEnvironment(m *module) []finding {
	return m.uses("os", []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "UserHomeDir"},
		"%s is used outside the configuration", func(dir *folder, s *source) bool {
			return !s.test && !in(dir.path, environmentReaders)
		})
}

// dialing are the names of the standard library that make connections or look up
// names.
var dialing = map[string][]string{
	"net": {
		"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer", "Resolver", "DefaultResolver",
		"LookupHost", "LookupIP", "LookupAddr", "LookupCNAME", "LookupMX", "LookupNS", "LookupPort", "LookupSRV", "LookupTXT",
	},
	"net/http":   {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net/smtp":   {"Dial", "SendMail"},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
}

// checkDialers finds connections that are made beside the guarded dialer. A
// pointer to a client is only passed on.
func checkDialers(m *module) (found []finding) {
	m.eachSource(func(dir *folder, s *source) {
		if l, _ := layerOf(dir.path); s.test || l.name == testSupport {
			return
		}
		pointers := map[ast.Expr]bool{}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if star, ok := n.(*ast.StarExpr); ok {
				pointers[star.X] = true
			}
			return true
		})
		for _, imported := range slices.Sorted(maps.Keys(dialing)) {
			for _, use := range s.uses(imported, dialing[imported]...) {
				if !pointers[use] {
					found = append(found, m.finding(use, s.path, "%s connects beside the guarded dialer", path.Base(imported)+"."+use.Sel.Name))
				}
			}
		}
	})
	return found
}

func checkClock(m *module) []finding {
	outside := func(dir *folder, s *source) bool {
		l, _ := layerOf(dir.path)
		return !s.test && l.name != testSupport && !in(dir.path, clocks)
	}
	found := m.uses("time", []string{"Now", "Since", "Until"}, "%s is not handed in", outside)
	m.eachSource(func(dir *folder, s *source) {
		for _, source := range []string{"math/rand", "math/rand/v2", "crypto/rand"} {
			if outside(dir, s) && imports(s, source) {
				found = append(found, m.finding(s.Name, s.path, "randomness of %s is not handed in", source))
			}
		}
	})
	return found
}

func imports(s *source, imported string) bool {
	return slices.ContainsFunc(s.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == strconv.Quote(imported) })
}

func checkSleep(m *module) []finding {
	return m.uses("time", []string{"Sleep"}, "%s waits for nothing in particular",
		func(*folder, *source) bool { return true })
}

func checkPrint(m *module) []finding {
	outside := func(dir *folder, s *source) bool { return !s.test && !in(dir.path, printers) }
	found := m.uses("fmt", []string{"Print", "Printf", "Println"}, "%s prints outside the commands", outside)
	found = append(found, m.uses("os", []string{"Stdout", "Stderr"}, "%s is used outside the commands", outside)...)
	m.eachSource(func(_ *folder, s *source) {
		for _, call := range s.calls("print", "println") {
			found = append(found, m.finding(call, s.path, "built-in print"))
		}
	})
	return found
}

func checkLog(m *module) []finding {
	return m.uses("log/slog", []string{"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log", "DebugContext", "InfoContext", "WarnContext", "ErrorContext"},
		"%s writes to a logger that was not handed in", func(*folder, *source) bool { return true })
}

func checkPanic(m *module) []finding {
	found := m.uses("os", []string{"Exit"}, "%s ends the process outside a command",
		func(dir *folder, s *source) bool { return !s.test && s.Name.Name != "main" })
	m.eachSource(func(_ *folder, s *source) {
		if s.test {
			return
		}
		for _, call := range s.calls("panic") {
			found = append(found, m.finding(call, s.path, "panic"))
		}
	})
	return found
}

// uses reports members of an imported package where outside says they have no
// place.
func (m *module) uses(imported string, members []string, format string, outside func(*folder, *source) bool) (found []finding) {
	m.eachSource(func(dir *folder, s *source) {
		if !outside(dir, s) {
			return
		}
		for _, use := range s.uses(imported, members...) {
			found = append(found, m.finding(use, s.path, format, imported+"."+use.Sel.Name))
		}
	})
	return found
}

// calls returns calls of built-in functions.
func (s *source) calls(names ...string) (found []*ast.CallExpr) {
	ast.Inspect(s.File, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if fn, ok := call.Fun.(*ast.Ident); ok && slices.Contains(names, fn.Name) {
				found = append(found, call)
			}
		}
		return true
	})
	return found
}

// checkContext wants contexts first, and never kept in a struct.
func checkContext(m *module) (found []finding) {
	m.eachSource(func(_ *folder, s *source) {
		isContext := func(e ast.Expr) bool {
			sel, ok := e.(*ast.SelectorExpr)
			return ok && slices.Contains(s.uses("context", "Context"), sel)
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StructType:
				for _, field := range n.Fields.List {
					if isContext(field.Type) && !s.test { // a case of a test may differ in its context
						found = append(found, m.finding(field, s.path, "context is kept in a struct"))
					}
				}
			case *ast.FuncType:
				for i, param := range n.Params.List {
					if isContext(param.Type) && i > 0 && !isTesting(n.Params.List[0].Type) {
						found = append(found, m.finding(param, s.path, "context is not the first parameter"))
					}
				}
			}
			return true
		})
	})
	return found
}

// isTesting reports whether e is *testing.T or testing.TB, which come before
// the context in tests.
func isTesting(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == "testing"
}

var emptyBeginning = regexp.MustCompile(`(?i)^"(failed to|unable to|could not|error while|error:) `)

// checkErrorTexts finds errors that begin by saying that they are errors.
func checkErrorTexts(m *module) (found []finding) {
	m.eachSource(func(_ *folder, s *source) {
		makers := append(s.uses("errors", "New"), s.uses("fmt", "Errorf")...)
		makers = append(makers, s.uses(modulePath, "E")...)
		ast.Inspect(s.File, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || !slices.Contains(makers, sel) {
				return true
			}
			for _, arg := range call.Args {
				if text, ok := arg.(*ast.BasicLit); ok && emptyBeginning.MatchString(text.Value) {
					found = append(found, m.finding(arg, s.path, "error text %s says nothing by its beginning", text.Value))
				}
			}
			return true
		})
	})
	return found
}
