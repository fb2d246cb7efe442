package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A program is the binary as it is released, and a home for it.
type program struct {
	path string
	home string
}

// build builds the program stripped, and lets it make its home.
func build(tb testing.TB) program {
	tb.Helper()
	p := program{path: filepath.Join(tb.TempDir(), "chela"), home: filepath.Join(tb.TempDir(), "home")}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", p.path, "chela/cmd/chela")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build the program: %v\n%s", err, out)
	}
	if _, err := p.run("ask", "hello"); err != nil {
		tb.Fatal(err)
	}
	return p
}

// run runs one command and returns the most memory that was resident.
func (p program) run(args ...string) (bytes int64, err error) {
	cmd := exec.Command(p.path, append([]string{"--home", p.home}, args...)...)
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")} // no keys: the offline provider answers
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return resident(cmd.ProcessState), nil
}

// measure runs a command n times and returns how many milliseconds and how many
// MB each took.
func (p program) measure(tb testing.TB, n int, args ...string) (took, memory sample) {
	tb.Helper()
	for range n {
		begun := time.Now()
		bytes, err := p.run(args...)
		if err != nil {
			tb.Fatal(err)
		}
		took = append(took, time.Since(begun).Seconds()*1e3)
		memory = append(memory, float64(bytes)/1e6)
	}
	return took, memory
}

// programRows measures the program as a whole. It comes before everything else:
// Linux counts the memory of the process that begins another one as the
// other's, so the tests must be small when they do.
func programRows(tb testing.TB, n int) []row {
	tb.Helper()
	p := build(tb)
	st, err := os.Stat(p.path)
	if err != nil {
		tb.Fatal(err)
	}
	version, _ := p.measure(tb, n, "version")
	ask, memory := p.measure(tb, n, "ask", "hello")
	read, more := p.measure(tb, n, "ask", "calculate 17*23")
	return []row{
		version.row(row{what: "chela version", unit: "ms", target: "<=", limit: 20}),
		ask.row(row{what: "chela ask, a text turn", unit: "ms", target: "<=", limit: 100}),
		read.row(row{what: "chela ask, a turn with a tool", unit: "ms", target: "<=", limit: 100}),
		append(memory, more...).row(row{what: "resident memory of chela ask", unit: "MB", target: "<=", limit: 40}),
		{what: "stripped binary", value: float64(st.Size()) / 1e6, unit: "MB", target: "<=", limit: 60},
	}
}
