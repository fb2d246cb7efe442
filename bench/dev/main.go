// Command dev holds what the Makefile needs beside the go command:
//
//	go run ./bench/dev test ARGUMENTS     runs go test and counts tests
//	go run ./bench/dev fuzz DURATION      runs every fuzz target
//	go run ./bench/dev typecheck          checks the types for GOOS and GOARCH
//	go run ./bench/dev mutate [FLAGS]     measures what the tests notice
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	verbs := map[string]func(ctx context.Context, args []string) int{
		"test": runTests, "fuzz": fuzz, "typecheck": typecheck, "mutate": mutate,
	}
	args := append(os.Args[1:], "")
	verb, ok := verbs[args[0]]
	if !ok {
		fmt.Fprintln(os.Stderr, "use: dev test|fuzz|typecheck|mutate")
		os.Exit(2)
	}
	os.Exit(verb(context.Background(), os.Args[2:]))
}
