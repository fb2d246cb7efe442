package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A pkg is a package with deciding files.
type pkg struct {
	path    string
	folder  string
	files   *token.FileSet
	imports types.Importer
	syntax  map[string]*ast.File // all files that are compiled, by path
	sources map[string][]byte
	sites   []site
	drawn   []site // with their ids
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly, Standard       bool
}

// load parses and checks the packages of files, and finds the sites in those.
func load(ctx context.Context, files []string) ([]*pkg, error) {
	folders := map[string][]string{}
	for _, file := range files {
		folder := "./" + filepath.ToSlash(filepath.Dir(file))
		folders[folder] = append(folders[folder], file)
	}
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Standard"}
	args = append(args, supportImports...)
	for folder := range folders {
		args = append(args, folder)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	exports := map[string]string{}
	var packages []*pkg
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly && !l.Standard {
			p, err := parse(set, l)
			if err != nil {
				return nil, err
			}
			p.imports = imports
			packages = append(packages, p)
		}
	}
	slices.SortFunc(packages, func(a, b *pkg) int { return strings.Compare(a.path, b.path) })
	for _, p := range packages {
		if err := p.findSites(files); err != nil {
			return nil, err
		}
	}
	return packages, nil
}

// parse reads the files of a package. They are named from the current folder.
func parse(set *token.FileSet, l listed) (*pkg, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Rel(here, l.Dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{path: l.ImportPath, folder: folder, files: set, syntax: map[string]*ast.File{}, sources: map[string][]byte{}}
	for _, name := range l.GoFiles {
		path := filepath.Join(folder, name)
		if p.sources[path], err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if p.syntax[path], err = parser.ParseFile(set, path, p.sources[path], parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *pkg) findSites(files []string) error {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if err := p.check(p.syntax, info); err != nil {
		return err
	}
	for _, path := range files {
		if file := p.syntax[path]; file != nil {
			f := &finder{path: path, source: p.sources[path], files: p.files, info: info}
			p.sites = append(p.sites, f.find(file)...)
		}
	}
	return nil
}

// check type-checks a package of files.
func (p *pkg) check(syntax map[string]*ast.File, info *types.Info) error {
	var files []*ast.File
	for _, path := range slices.Sorted(maps.Keys(syntax)) {
		files = append(files, syntax[path])
	}
	_, err := (&types.Config{Importer: p.imports}).Check(p.path, p.files, files, info)
	return err
}

// compiles reports whether the package still type-checks with one mutant.
func (p *pkg) compiles(s site) bool {
	mutated := maps.Clone(p.syntax)
	text := render(p.sources[s.file], 0, len(p.sources[s.file]), []site{s})
	file, err := parser.ParseFile(p.files, s.file, text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	mutated[s.file] = file
	support, err := parser.ParseFile(p.files, "mutant.go", supportSource(file.Name.Name), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	mutated["mutant.go"] = support
	return p.check(mutated, nil) == nil
}

// supportImports are the imports of the file that mutants call.
var supportImports = []string{"fmt", "os", "strconv", "sync/atomic"}

// supportSource is the file that mutants call. It reads the active mutant from
// the environment, and appends the numbers of reached mutants to a file where
// the environment names one. A reached mutant allocates no memory from the
// second time on, because tests count allocations.
func supportSource(name string) string {
	return "package " + name + `

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantActive_, _ = strconv.Atoi(os.Getenv("CHELA_MUTANT"))
	mutantReached_   = os.Getenv("CHELA_MUTANTS_REACHED")
	mutantSeen_      [1 << 16]atomic.Bool
)

func mutant_(id int) bool {
	if mutantReached_ != "" {
		if seen := &mutantSeen_[id%len(mutantSeen_)]; !seen.Load() && !seen.Swap(true) {
			if f, err := os.OpenFile(mutantReached_, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				fmt.Fprintln(f, id)
				f.Close()
			}
		}
	}
	return id == mutantActive_
}

func mutantValue_[T any](id int, original, changed T) T {
	if mutant_(id) {
		return changed
	}
	return original
}
`
}
