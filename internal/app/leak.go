package app

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"chela/internal/config"
	"chela/internal/platform/fail"
	"chela/internal/safety/leak"
)

// newRedactor returns the redactor of a process, which is nil in a test that shows
// what would leak without it.
func newRedactor() *leak.Redactor {
	if fail.Mutant("no-redaction") {
		return nil
	}
	return leak.NewRedactor()
}

// withSettings returns a redactor that knows the keys and passwords in a
// configuration: the one given, or a new one.
func withSettings(leaks *leak.Redactor, cfg *config.Config) *leak.Redactor {
	if leaks == nil {
		leaks = newRedactor()
	}
	if leaks == nil {
		return nil
	}
	var values []leak.Value
	for _, text := range cfg.Secrets() {
		values = append(values, leak.Value{Name: "setting", Text: text})
	}
	leaks.Set("config", values...)
	return leaks
}

// A stderr is the standard error of the process without credentials. Whether it is a
// terminal is that of the file.
type stderr struct {
	io.Writer
	file *os.File
}

// Fd returns the descriptor of the file.
func (s stderr) Fd() uintptr { return s.file.Fd() }

// crashed prints a panic of the main goroutine without credentials, and returns the
// exit code of a crashed Go program.
func crashed(to io.Writer, p any) int {
	fmt.Fprintf(to, "panic: %v\n\n%s", p, debug.Stack())
	return 2
}
