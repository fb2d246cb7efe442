//go:build failpoint

package fail_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/fail"
)

// script holds what a child process of these tests passes: names of points,
// with a "!" before them to hear of the kind of error, and of mutants with a
// "?" before them.
const script = "CHELA_FAIL_TEST"

// TestMain passes the points of a script in a child process, which reads its
// environment once like every program, and prints what happened at each.
func TestMain(m *testing.M) {
	places, child := os.LookupEnv(script)
	if !child {
		os.Exit(m.Run())
	}
	for _, place := range strings.Fields(places) {
		if mutant, ok := strings.CutPrefix(place, "?"); ok {
			fmt.Println(fail.Mutant(mutant))
			continue
		}
		if place, ok := strings.CutPrefix(place, "!"); ok {
			fmt.Println(chela.KindOf(fail.Point(place)))
			continue
		}
		fmt.Println(fail.Point(place))
	}
}

// pass runs a script with an environment and returns what it printed.
func pass(t *testing.T, places string, environ ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), append(environ, script+"="+places)...)
	var said, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, complaint.String())
	}
	return strings.ReplaceAll(strings.TrimSpace(said.String()), "\n", ", "), err
}

func TestPoints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rules, places, want string }{
		"no rules":           {"", "a b", "<nil>, <nil>"},
		"every hit":          {"a=error", "a b a", "failpoint a, <nil>, failpoint a"},
		"the second hit":     {"a@2=error", "a a a", "<nil>, failpoint a, <nil>"},
		"hits of each place": {"a@2=error", "b a b a", "<nil>, <nil>, <nil>, failpoint a"},
		"several rules":      {"a.begin@1=error;b=error;;", "a.begin b a.begin b", "failpoint a.begin, failpoint b, <nil>, failpoint b"},
		"two for one place":  {"a@1=error;a@3=error", "a a a", "failpoint a, <nil>, failpoint a"},
		"a sleep, then more": {"a=sleep(1ms);a=error", "a", "failpoint a"},
		"no part of a name":  {"a=error", "a.begin aa", "<nil>, <nil>"},
		"kinds of errors":    {"a=error;b=busy;c=full", "!a !b !c", "internal, unavailable, unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pass(t, c.places, "CHELA_FAILPOINTS="+c.rules)
			if err != nil || got != c.want {
				t.Errorf("said %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	if _, err := pass(t, "a a", "CHELA_FAILPOINTS=a=sleep(60ms)"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < 120*time.Millisecond {
		t.Errorf("two sleeps of 60 ms took %v", took)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	said, err := pass(t, "a b a b", "CHELA_FAILPOINTS=b@2=kill")
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the process ended with %v", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("the process ended with %v", err)
	}
	if want := "<nil>, <nil>, <nil>"; said != want {
		t.Errorf("said %q before, want %q", said, want)
	}
}

// TestLog notes hits before anything happens at them, so that the one that
// killed is the last.
func TestLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	for range 2 { // the second process appends
		if _, err := pass(t, "a b c", "CHELA_FAILPOINTS_LOG="+path, "CHELA_FAILPOINTS=a=error;b=kill"); err == nil {
			t.Error("the process was not killed")
		}
	}
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a\nb\na\nb\n", string(log)); diff != "" {
		t.Errorf("log (-want +got)\n%s", diff)
	}
	if _, err := pass(t, "a", "CHELA_FAILPOINTS_LOG="+t.TempDir()); err == nil {
		t.Error("a log that cannot be written was passed over")
	}
}

func TestMutants(t *testing.T) {
	t.Parallel()
	for mutants, want := range map[string]string{
		"":                    "false, false, false",
		"early-ack":           "true, false, false",
		"early-ack,no-row":    "true, true, false",
		"early":               "false, false, false",
		"no-row,blind-replay": "false, true, true",
	} {
		got, err := pass(t, "?early-ack ?no-row ?blind-replay", "CHELA_FAILPOINTS_MUTANTS="+mutants)
		if err != nil || got != want {
			t.Errorf("mutants %q: said %q (%v), want %q", mutants, got, err, want)
		}
	}
}

// TestMistakesAreNotPassedOver: a rule that does nothing would make a test
// that shows nothing.
func TestMistakesAreNotPassedOver(t *testing.T) {
	t.Parallel()
	for _, rules := range []string{
		"a", "a=", "a=kil", "a@=error", "a@0=error", "a@-1=kill", "a@x=error", "a=sleep", "a=sleep()", "a=sleep(5)", "b=error;a",
	} {
		if _, err := pass(t, "a", "CHELA_FAILPOINTS="+rules); err == nil || !strings.Contains(err.Error(), "panic: failpoint") {
			t.Errorf("rules %q: error %v", rules, err)
		}
	}
}
