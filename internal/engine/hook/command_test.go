//go:build unix

package hook_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chela"
	"chela/internal/engine/hook"
)

// A command finds nothing of the environment, and works in the given folder.
func TestCommandEnvironment(t *testing.T) {
	t.Parallel()
	const script = `printf '{"action":"modify","text":"%s"}' "$(env | cut -d= -f1 | tr '\n' ' ')$(pwd)"`
	v := newRig(t, hook.Spec{Point: chela.HookTransform, Command: []string{"sh", "-c", script}, Timeout: 20 * time.Second}).
		fire(hook.Moment{Point: chela.HookTransform, Text: "a"})
	names := strings.Fields(v.Text)
	if v.Refused != "" || len(names) < 2 {
		t.Fatalf("verdict %+v", v)
	}
	for _, name := range names[:len(names)-1] {
		if !slices.Contains([]string{"PATH", "LANG", "PWD", "OLDPWD", "SHLVL", "_"}, name) {
			t.Errorf("the command sees %s", name)
		}
	}
}

// Whatever a command began ends with it: when it ended by itself, and when its
// time was over.
func TestCommandLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"ended": "", "too late": "; wait"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			script := `exec 3> "` + pipe + `"; echo begun >&3; sleep 1000 > /dev/null 2>&1 & true` + end
			spec := hook.Spec{Point: chela.HookTransform, Command: []string{"sh", "-c", script}, Timeout: 20 * time.Second}
			if end != "" {
				spec.Timeout = 500 * time.Millisecond
			}
			v := newRig(t, spec).fire(hook.Moment{Point: chela.HookTransform, Text: "a"})
			if (v.Refused != "") != (end != "") {
				t.Errorf("verdict %+v", v)
			}
			if said, err := io.ReadAll(r); err != nil || string(said) != "begun\n" { // ends when nobody holds the pipe
				t.Errorf("%q, %v", said, err)
			}
		})
	}
}

func TestCommandThatIsNotThere(t *testing.T) {
	t.Parallel()
	r := newRig(t, hook.Spec{Point: chela.HookTransform, Command: []string{"/does/not/exist"}})
	if v := r.fire(hook.Moment{Point: chela.HookTransform, Text: "a"}); v.Refused != "the hook hooks[1] refused it: it failed" {
		t.Errorf("verdict %+v", v)
	}
}
