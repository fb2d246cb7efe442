package main

// This part of the program type-checks the module, without its tests, for the system
// that GOOS and GOARCH name. It reads sources and compiles nothing, and takes
// seconds where a cold cross-compilation takes minutes. It exits with 1 if a
// package has errors.

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func typecheck(ctx context.Context, _ []string) int {
	// With the syntax of dependencies, packages checks from source and leaves out
	// the bodies of functions outside the module.
	found, err := packages.Load(&packages.Config{
		Context: ctx,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax,
	}, "./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck: load the packages:", err)
		return 1
	}
	if packages.PrintErrors(found) > 0 {
		return 1
	}
	fmt.Printf("%d packages have no type errors\n", len(found))
	return 0
}
