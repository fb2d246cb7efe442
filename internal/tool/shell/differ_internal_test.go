package shell

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The defaults are part of make check; other seeds and more lines are for the night.
var (
	differLines = flag.Int("differ.lines", 60_000, "the number of generated lines on which the judge and bash are compared")
	differSeed  = flag.Uint64("differ.seed", 1, "the seed of those lines")
)

// recorder turns bash into a shell in which every command only records its
// arguments: builtins and the names of programs are functions, any other name
// goes to command_not_found_handle, and PATH leads nowhere. A record is the
// number of the line, the number of words and the words, each ended by NUL; a
// record without words says that the line ended. A line that runs too many
// commands ends its shell.
const recorder = `
exec 200>&3 3>&- </dev/null >/dev/null 2>&1
PATH=/nonexistent FUNCNEST=12
__rec() {
	((++__c > 60)) && builtin exit 9
	builtin local __nl=$'\n' __eol=$'\002' # printf writes at each line end, and a background command could write between
	builtin printf '%s\0' "$__n" "$#" "${@//$__nl/$__eol}" >&200
	((__c % 3 && __c < 9))
}
command_not_found_handle() { __rec "$@"; }
for __b in $(builtin compgen -b) git rm ls cat make tee curl go python nohup env sudo xargs; do
	case $__b in builtin) ;; *) builtin eval "$__b() { __rec $__b \"\$@\"; }" ;; esac
done
eval() { __rec eval "$@"; builtin eval "$@"; }
sh() { __rec sh "$@"; [[ $1 == -c ]] && builtin eval "$2"; }
bash() { __rec bash "$@"; [[ $1 == -c ]] && builtin eval "$2"; }
__b=$(builtin compgen -A function); builtin readonly -f $__b; builtin unset __b
__own() { f() { __rec f "$@"; }; g() { __rec g "$@"; }; h() { __rec h "$@"; }; }
__own
__limit() { builtin trap '((++__d > 120)) && builtin exit 9' DEBUG; }
__clean() {
	builtin trap - DEBUG; builtin wait
	builtin unset A x y a COPROC; __own; PATH=/nonexistent IFS=$' \t\n'
}
__run() { __n=$1 __c=0 __d=0; builtin set --; builtin eval -- "$__l"; builtin printf '%s\0' "$__n" 0 >&200; }
builtin declare -ft __run
`

// step returns the part of a script that runs a line. Most lines leave nothing
// behind.
func step(n int, line string) string {
	run := fmt.Sprintf("__l=%s; __run %d\n", quoted(line), n)
	for _, lasting := range []string{"=", "&", "(", "function", "coproc", "while", "until", "for", "select", "{x}"} {
		if strings.Contains(line, lasting) {
			return "__limit\n" + run + "__clean\n"
		}
	}
	return run
}

// chunk is the number of lines that one shell is given.
const chunk = 500

// An execution is what bash did with a line.
type execution struct {
	line     string
	commands [][]string
	ended    bool // bash came to the end of the line
}

// record runs the lines of a chunk in bash. A shell that a line ended is
// followed by another.
func record(t *testing.T, bash string, lines []execution) {
	t.Helper()
	for from := 0; from < len(lines); {
		last := recordFrom(t, bash, lines, from)
		from = max(from, last+1)
		if from < len(lines) {
			from++ // the line that ended the shell
		}
	}
}

// recordFrom runs lines in one shell, and returns the last one that ended.
func recordFrom(t *testing.T, bash string, lines []execution, from int) int {
	t.Helper()
	dir, scratch := t.TempDir(), t.TempDir()
	script, log := filepath.Join(scratch, "script"), filepath.Join(scratch, "log")
	var b strings.Builder
	b.WriteString(recorder)
	for i, l := range lines[from:] {
		b.WriteString(step(from+i, l.line))
	}
	if err := os.WriteFile(script, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--noprofile", "--norc", "-c", `. "$0"`, script) // which reads it as a whole
	cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, []string{"LANG=C.UTF-8", "HOME=" + dir}, []*os.File{records}
	_ = cmd.Run() // the last line decides how it ends
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	last := readRecords(t, text, lines)
	if ctx.Err() != nil {
		t.Fatalf("a line does not end: %q", lines[min(max(from, last+1), len(lines)-1)].line)
	}
	return last
}

// readRecords adds records to their lines, and returns the last line that
// ended.
func readRecords(t *testing.T, text []byte, lines []execution) (last int) {
	t.Helper()
	fields := strings.Split(strings.ReplaceAll(string(text), "\x02", "\n"), "\x00")
	last = -1
	for len(fields) > 2 {
		n, err := strconv.Atoi(fields[0])
		count, countErr := strconv.Atoi(fields[1])
		if err != nil || countErr != nil || n >= len(lines) || len(fields) < 2+count {
			t.Fatalf("a broken record: %.200q", fields)
		}
		if count == 0 {
			lines[n].ended, last = true, max(last, n)
		} else {
			lines[n].commands = append(lines[n].commands, fields[2:2+count])
		}
		fields = fields[2+count:]
	}
	return last
}

// realShell returns the path of the shell that the sandbox prefers.
func realShell(t *testing.T) string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err == nil {
		return bash
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("bash is not installed")
	}
	t.Skip("bash is not installed")
	return ""
}

// TestBashRunsWhatIsJudged compares the judge with bash on generated lines:
// each command that bash runs is among those that the judge read, word for word
// where the words are literal. Of a line that the judge calls ambiguous nothing
// is known, so it is not run.
func TestBashRunsWhatIsJudged(t *testing.T) {
	t.Parallel()
	bash := realShell(t)
	g := generator{Rand: rand.New(rand.NewPCG(*differSeed, 0))}
	var lines []execution
	ambiguous := 0
	for range *differLines {
		line := g.line()
		if r := read(line); r.ambiguous {
			ambiguous++
		} else {
			lines = append(lines, execution{line: line})
		}
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, 2)
	for some := range slices.Chunk(lines, chunk) {
		slots <- struct{}{}
		wait.Go(func() { // Wait below waits for it
			defer func() { <-slots }()
			record(t, bash, some)
		})
	}
	wait.Wait()
	compare(t, lines, ambiguous)
}

func compare(t *testing.T, lines []execution, ambiguous int) {
	t.Helper()
	exact, ran, ended := 0, 0, 0
	for _, l := range lines {
		r := read(l.line)
		if r.opaque {
			exact++
		}
		if l.ended {
			ended++
		}
		for _, argv := range l.commands {
			ran++
			if !r.names(argv) {
				t.Errorf("%q\nruns %q\nwhich is not among %q", l.line, argv, r.subjects())
			}
		}
	}
	total := len(lines) + ambiguous
	t.Logf("%d lines: %d ambiguous, %d exact; %d commands ran", total, ambiguous, exact, ran)
	if ambiguous > total/3 || exact > total*2/3 || ended < len(lines)*9/10 || ran < len(lines) {
		t.Errorf("too little was compared: %d lines ended", ended)
	}
}

// names reports whether a command that ran is one that was read.
func (r *reading) names(argv []string) bool {
	return r.unknown || slices.ContainsFunc(r.commands, func(c command) bool { return covers(c.words, argv) })
}

// covers reports whether words may have become argv. A word that is not fixed
// may become any number of them.
func covers(words []word, argv []string) bool {
	if len(words) == 0 {
		return len(argv) == 0
	}
	if words[0].fixed {
		return len(argv) > 0 && argv[0] == words[0].text && covers(words[1:], argv[1:])
	}
	for n := range len(argv) + 1 {
		if covers(words[1:], argv[n:]) {
			return true
		}
	}
	return false
}
