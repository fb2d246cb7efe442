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

// fuzz runs every fuzz target of the module, one after the other, each for the given
// time.
func fuzz(ctx context.Context, args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "use: dev fuzz DURATION")
		return 2
	}
	targets, err := find(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "find fuzz targets:", err)
		return 1
	}
	for _, t := range targets {
		fmt.Printf("%s in ./%s\n", t.name, t.folder)
		cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+args[0], "./"+t.folder)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "fuzz %s: %v\n", t.name, err)
			return 1
		}
	}
	return 0
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
