package chela_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// checkDocs wants a comment on every exported name that begins with the name.
func checkDocs(m *module) (found []finding) {
	m.eachSource(func(dir *folder, s *source) {
		if s.test {
			return
		}
		report := func(node ast.Node, name, what string) {
			found = append(found, m.finding(node, dir.name()+"."+name, "%s", what))
		}
		for _, decl := range s.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				checkFunctionDoc(d, report)
			case *ast.GenDecl:
				checkGroupDoc(d, report)
			}
		}
	})
	return found
}

func checkFunctionDoc(fn *ast.FuncDecl, report func(ast.Node, string, string)) {
	on := receiverType(fn)
	if fn.Name.IsExported() && (on == "" || ast.IsExported(on)) && !begins(fn.Doc, fn.Name.Name) {
		report(fn, fn.Name.Name, "no comment that begins with "+fn.Name.Name)
	}
}

// checkGroupDoc looks at types, constants and variables. In a group one
// comment may stand for all, such as the states of a noun.
func checkGroupDoc(d *ast.GenDecl, report func(ast.Node, string, string)) {
	grouped := d.Lparen.IsValid()
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			together := grouped && d.Doc != nil && s.Comment != nil
			if s.Name.IsExported() && !together && !begins(s.Doc, s.Name.Name) && (grouped || !begins(d.Doc, s.Name.Name)) {
				report(s, s.Name.Name, "no comment that begins with "+s.Name.Name)
			}
			checkMethodDocs(s, report)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				alone := begins(s.Doc, name.Name) || !grouped && begins(d.Doc, name.Name)
				if name.IsExported() && !alone && (!grouped || d.Doc == nil) {
					report(name, name.Name, "no comment that begins with "+name.Name)
				}
			}
		}
	}
}

// checkMethodDocs looks at the methods of an interface: they are contracts.
func checkMethodDocs(spec *ast.TypeSpec, report func(ast.Node, string, string)) {
	face, ok := spec.Type.(*ast.InterfaceType)
	if !ok || !spec.Name.IsExported() {
		return
	}
	for _, method := range face.Methods.List {
		if len(method.Names) > 0 && !begins(method.Doc, method.Names[0].Name) {
			name := method.Names[0].Name
			report(method, spec.Name.Name+"."+name, "no comment that begins with "+name)
		}
	}
}

// begins reports whether a comment begins with name, after an article or not.
func begins(doc *ast.CommentGroup, name string) bool {
	if doc == nil {
		return false
	}
	text := doc.Text()
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	rest, ok := strings.CutPrefix(text, name)
	return ok && (rest == "" || !token.IsIdentifier(rest[:1]))
}

// checkPackageDocs wants one file of a package to say what it is about.
func checkPackageDocs(m *module) (found []finding) {
	for _, dir := range m.folders {
		sources := dir.production()
		if len(sources) == 0 {
			continue
		}
		pkg := sources[0].Name.Name
		want, count := "Package "+pkg+" ", 0
		if pkg == "main" {
			want = "Command "
		}
		for _, s := range sources {
			switch {
			case s.Doc == nil:
			case strings.HasPrefix(s.Doc.Text(), want):
				count++
			default:
				found = append(found, m.finding(s.Name, dir.name(), "comment of package %s does not begin with %q", pkg, want))
			}
		}
		if count != 1 {
			found = append(found, m.finding(sources[0].Name, dir.name(), "%d files say what package %s is about, not one", count, pkg))
		}
	}
	return found
}

// An idiom is a way of writing that readers from outside do not use, and the number
// of times per 1,000 words of comments that is accepted. The limits are two to four
// times the rates measured in a2a-go, river, age, crush and wtf.
type idiom struct {
	pattern *regexp.Regexp
	limit   float64
	instead string
}

var idioms = []idiom{
	{regexp.MustCompile(`(?i)\b(?:what|that which) (?:is|was|of|it|came|comes|a|the|they|has|they|people)\b`), 0.5, "name the thing with a noun"},
	{regexp.MustCompile(`(?i)\b(?:nobody|whoever|somebody|whom)\b`), 0.3, "name the caller, the process or the person"},
	{regexp.MustCompile(`(?i)\b(?:anew|likewise|thereby|in vain|meanwhile|beforehand)\b`), 0.3, "use a plain word"},
}

// checkIdioms counts idioms in the comments of production code, and reports each one
// where there are too many.
func checkIdioms(m *module) (found []finding) {
	words, hits := 0, make([][]finding, len(idioms))
	m.eachSource(func(dir *folder, s *source) {
		if l, _ := layerOf(dir.path); s.test || s.generated || l.name == testSupport || strings.HasPrefix(s.path, "bench/") {
			return
		}
		for _, comment := range s.Comments {
			text := comment.Text()
			words += len(strings.Fields(text))
			for i, d := range idioms {
				for _, hit := range d.pattern.FindAllString(text, -1) {
					hits[i] = append(hits[i], m.finding(comment, s.path, "%q in a comment: %s", hit, d.instead))
				}
			}
		}
	})
	for i, d := range idioms {
		if float64(len(hits[i])) > d.limit*float64(words)/1000 {
			found = append(found, hits[i]...)
		}
	}
	return found
}

var (
	reminder      = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	issueReminder = regexp.MustCompile(`^//\s*TODO\(#\d+\): \S`)
	lintOff       = regexp.MustCompile(`^//\s*(nolint|lint:ignore|lint:file-ignore)\b`)
	lintOffReason = regexp.MustCompile(`^//(nolint:[a-z,]+ // \S+ \S|lint:(ignore|file-ignore) \S+ \S+ \S)`)
)

// checkComments wants an issue with every reminder and a reason with every
// lint that is switched off.
func checkComments(m *module) (found []finding) {
	m.eachSource(func(_ *folder, s *source) {
		for _, group := range s.Comments {
			for _, c := range group.List {
				if reminder.MatchString(c.Text) && !issueReminder.MatchString(c.Text) {
					found = append(found, m.finding(c, s.path, "reminder is not of the form TODO(#123): what"))
				}
				if lintOff.MatchString(c.Text) && !lintOffReason.MatchString(c.Text) {
					found = append(found, m.finding(c, s.path, "lint is switched off without a reason"))
				}
			}
		}
	})
	return found
}
