package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// runTests runs go test with its arguments and summarizes: a line for each package,
// the whole output of each failed test, the name and the reason of each skipped one,
// and at the end a line of three counts. It returns 1 if anything failed.
func runTests(ctx context.Context, args []string) int {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "run go test:", err)
		return 1
	}
	c := newCount(os.Stdout)
	readErr := c.read(out)
	err = cmd.Wait()
	c.summary()
	switch {
	case readErr != nil:
		fmt.Fprintln(os.Stderr, "read the output of go test:", readErr)
		return 1
	case err != nil:
		fmt.Fprintln(os.Stderr, "go test:", err)
		return 1
	}
	return 0
}
