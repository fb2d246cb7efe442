package worker

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"chela/internal/sandbox"
)

// Places are the paths of an order as the command will know them.
type places struct {
	workspace string
	dir       string // where it begins
	tmp       string
	shell     string
}

// prepare readies the worker's surroundings: what is a property of the whole
// process and of the file tree. It returns a function that removes what it
// left on the host.
func prepare(o Order) (places, func(), error) {
	keep := func() {}
	// A worker that cannot be dumped cannot be looked into or traced through
	// /proc either, not even by a command of the same user.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return places{}, keep, fmt.Errorf("make the worker undumpable: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return places{}, keep, fmt.Errorf("adopt orphans: %w", err)
	}
	if o.Tier == Namespaces {
		if err := enterRoot(o); err != nil {
			return places{}, keep, err
		}
		return place(sandbox.Root, o.Dir, "/tmp"), keep, nil
	}
	tmp, err := os.MkdirTemp("", "chela-")
	if err != nil {
		return places{}, keep, fmt.Errorf("make a temporary directory: %w", err)
	}
	// What cannot be removed is left to the system's own tidying of /tmp.
	return place(o.Workspace, o.Dir, tmp), func() { _ = os.RemoveAll(tmp) }, nil
}

func place(workspace, dir, tmp string) places {
	p := places{workspace: workspace, dir: filepath.Join(workspace, dir), tmp: tmp, shell: "/bin/sh"}
	if _, err := os.Stat("/bin/bash"); err == nil {
		p.shell = "/bin/bash"
	}
	return p
}

// environ returns the order's environment with what depends on the places.
func (p places) environ(o Order) []string {
	env := append([]string{}, o.Env...)
	return append(env, "HOME="+p.workspace, "TMPDIR="+p.tmp, "SHELL="+p.shell)
}

// argv returns the command's shell and its arguments. Bash is kept from its
// start-up files, which a workspace as home directory could hold.
func (p places) argv(command string) []string {
	if p.shell == "/bin/bash" {
		return []string{p.shell, "--noprofile", "--norc", "-c", command}
	}
	return []string{p.shell, "-c", command}
}
