// Command fuzzall runs every fuzz target of the module, one after the other,
// each for the given time: go run ./internal/platform/fuzzall 60s.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "use: fuzzall DURATION")
		os.Exit(2)
	}
	targets, err := find(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "find fuzz targets:", err)
		os.Exit(1)
	}
	for _, t := range targets {
		fmt.Printf("%s in ./%s\n", t.name, t.folder)
		cmd := exec.CommandContext(context.Background(), "go", "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+os.Args[1], "./"+t.folder)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "fuzz %s: %v\n", t.name, err)
			os.Exit(1)
		}
	}
}

// A target is one fuzz function.
type target struct{ folder, name string }

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// find returns the targets in the test files below the root of module.
func find(module fs.FS) ([]target, error) {
	var targets []target
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(module, name)
		for _, match := range declaration.FindAllStringSubmatch(string(text), -1) {
			targets = append(targets, target{folder: path.Dir(name), name: match[1]})
		}
		return err
	})
	return targets, err
}
