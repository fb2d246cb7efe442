package chela_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The sizes that keep a reader able to hold a piece in mind.
const (
	maxFileLines     = 500
	maxFunctionLines = 80
	maxPackageLines  = 3500 // without tests
	maxParameters    = 4    // the context included, a testing.T and a list at the end not
	maxMethods       = 8    // of an interface
	maxReceiver      = 2    // letters
)

func checkFileSizes(m *module) (found []finding) {
	m.eachSource(func(_ *folder, s *source) {
		if s.lines > maxFileLines {
			found = append(found, m.finding(s.Name, s.path, "file has %d lines, at most %d", s.lines, maxFileLines))
		}
	})
	return found
}

// checkPackageSizes takes test support for tests.
func checkPackageSizes(m *module) (found []finding) {
	for _, dir := range m.folders {
		if l, _ := layerOf(dir.path); l.name == testSupport {
			continue
		}
		lines := 0
		for _, s := range dir.production() {
			if !s.generated {
				lines += s.lines
			}
		}
		if lines > maxPackageLines {
			found = append(found, m.finding(dir.sources[0].Name, dir.name(), "package has %d lines without tests, at most %d", lines, maxPackageLines))
		}
	}
	return found
}

func checkFunctionSizes(m *module) (found []finding) {
	m.eachFunction(func(dir *folder, _ *source, fn *ast.FuncDecl) {
		lines := m.files.Position(fn.End()).Line - m.files.Position(fn.Pos()).Line + 1
		if lines > maxFunctionLines {
			found = append(found, m.finding(fn, dir.symbol(fn), "%s has %d lines, at most %d", fn.Name.Name, lines, maxFunctionLines))
		}
	})
	return found
}

func checkParameters(m *module) (found []finding) {
	m.eachFunction(func(dir *folder, _ *source, fn *ast.FuncDecl) {
		n := fn.Type.Params.NumFields()
		if params := fn.Type.Params.List; n > 0 {
			if isVariadic(params[len(params)-1]) {
				n--
			}
			if isTesting(params[0].Type) {
				n--
			}
		}
		if n > maxParameters {
			found = append(found, m.finding(fn, dir.symbol(fn), "%s has %d parameters, at most %d", fn.Name.Name, n, maxParameters))
		}
	})
	return found
}

func isVariadic(param *ast.Field) bool {
	_, ok := param.Type.(*ast.Ellipsis)
	return ok
}

func (m *module) eachFunction(look func(*folder, *source, *ast.FuncDecl)) {
	m.eachSource(func(dir *folder, s *source) {
		for _, decl := range s.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				look(dir, s, fn)
			}
		}
	})
}

func (m *module) eachType(look func(*folder, *source, *ast.TypeSpec)) {
	m.eachSource(func(dir *folder, s *source) {
		ast.Inspect(s.File, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				look(dir, s, spec)
			}
			return true
		})
	})
}

// checkInterfaces lets only the root export interfaces, which are its ports.
// Everybody else declares the few methods that are needed where they are
// needed.
func checkInterfaces(m *module) (found []finding) {
	m.eachType(func(dir *folder, _ *source, spec *ast.TypeSpec) {
		face, ok := spec.Type.(*ast.InterfaceType)
		if !ok {
			return
		}
		name := dir.name() + "." + spec.Name.Name
		if n := face.Methods.NumFields(); n > maxMethods {
			found = append(found, m.finding(spec, name, "interface %s has %d methods, at most %d", spec.Name.Name, n, maxMethods))
		}
		if spec.Name.IsExported() && dir.path != "." {
			found = append(found, m.finding(spec, name, "interface %s is exported outside the root package", spec.Name.Name))
		}
	})
	return found
}

// banned says nothing about what a thing is, or means something else here.
var banned = []string{
	"task", "manager", "helper", "helpers", "util", "utils", "common", "base", "impl", "service", "data", "info", "interface", "context",
}

// checkWords looks at the names of packages, types and functions.
func checkWords(m *module) (found []finding) {
	report := func(node ast.Node, name string) {
		for _, word := range words(name) {
			if slices.Contains(banned, word) {
				found = append(found, m.finding(node, name, "%q in the name %s is not a word of this house", word, name))
			}
		}
	}
	for _, dir := range m.folders {
		report(dir.sources[0].Name, strings.TrimSuffix(dir.sources[0].Name.Name, "_test"))
	}
	m.eachType(func(_ *folder, _ *source, spec *ast.TypeSpec) { report(spec, spec.Name.Name) })
	m.eachFunction(func(_ *folder, s *source, fn *ast.FuncDecl) {
		if !s.test && fn.Name.IsExported() {
			report(fn, fn.Name.Name)
		}
	})
	return found
}

// words splits "JobBaseURL" into "job", "base" and "url".
func words(name string) []string {
	var split []string
	runes := []rune(name)
	start := 0
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) && !wordBegins(runes, i) {
			continue
		}
		split = append(split, strings.ToLower(string(runes[start:i])))
		start = i
	}
	return split
}

func wordBegins(name []rune, i int) bool {
	if !unicode.IsUpper(name[i]) {
		return name[i] == '_'
	}
	return !unicode.IsUpper(name[i-1]) || i+1 < len(name) && unicode.IsLower(name[i+1])
}

var plainName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*\.go$`)

func checkFileNames(m *module) (found []finding) {
	m.eachSource(func(_ *folder, s *source) {
		stem := strings.TrimSuffix(strings.TrimSuffix(s.base, ".go"), "_test")
		if !plainName.MatchString(s.base) || slices.Contains(banned, stem) || slices.Contains(banned, path.Base(path.Dir(s.path))) {
			found = append(found, m.finding(s.Name, s.path, "a file named %s does not tell what it is about", s.path))
		}
	})
	return found
}

// checkReceivers wants one short receiver name for a type.
func checkReceivers(m *module) (found []finding) {
	first := map[string]string{} // by folder and type
	m.eachFunction(func(dir *folder, _ *source, fn *ast.FuncDecl) {
		if fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
			return
		}
		name := fn.Recv.List[0].Names[0].Name
		of := dir.name() + "." + receiverType(fn)
		switch {
		case len(name) > maxReceiver:
			found = append(found, m.finding(fn, dir.symbol(fn), "receiver %s has more than %d letters", name, maxReceiver))
		case first[of] == "":
			first[of] = name
		case first[of] != name:
			found = append(found, m.finding(fn, dir.symbol(fn), "receiver %s of %s is called %s elsewhere", name, of, first[of]))
		}
	})
	return found
}

// checkTestPackages wants tests to see what users see. A test that must look
// inside says so in its file's name.
func checkTestPackages(m *module) (found []finding) {
	m.eachSource(func(_ *folder, s *source) {
		inside := strings.HasSuffix(s.base, "_internal_test.go") || s.base == "export_test.go"
		if s.test && !inside && !strings.HasSuffix(s.Name.Name, "_test") {
			found = append(found, m.finding(s.Name, s.path, "test is inside package %s but not named _internal_test.go", s.Name.Name))
		}
	})
	return found
}
