// Package worker is what runs inside a sandbox. Go cannot confine a process
// between fork and exec, so chela starts its own binary again as a worker,
// which confines the command it starts and watches over it.
//
//	chela ──control pipe──▶ worker ──▶ shell ──▶ …
//	      ◀─report pipe───         (the shell and all below it are confined)
//	      ◀─output pipe───
//
// The worker reads one [Order] from the control pipe, starts the shell, waits
// for it, kills whatever it left behind and writes one [Report]. It is told to
// stop by the end of the control pipe, which chela's death brings about as
// surely as its will: the kernel closes the pipe. A parent-death signal would
// be tied to one thread of chela, and Go ends threads as it likes.
//
// # How everything dies
//
// With [Namespaces] the worker is the first process of a PID namespace: when
// it ends, the kernel kills every process in it, and the worker's end is not
// seen before theirs. Without, the worker adopts all orphans below it
// (PR_SET_CHILD_SUBREAPER), so that no double fork and no setsid leads away
// from it, stops them all, and then kills them.
//
// # Who is confined
//
// Landlock, seccomp, capabilities and no-new-privileges are properties of a
// thread. One thread of the worker takes them on, forks the shell, and ends;
// the worker itself stays as it was, to kill and to report, and is out of the
// reach of the command. The shell begins behind a gate, which opens when that
// thread is gone and the limits are set: a signal to the thread, which is in
// the command's own domain, would kill the whole worker.
package worker

import (
	"slices"

	"chela/internal/sandbox"
)

// Args returns the arguments by which chela's binary becomes a worker.
func Args() []string { return []string{"worker", "exec"} }

// IsWorker reports whether args, as in os.Args, ask for a worker. A binary
// that starts workers asks this before anything else, and if so does nothing
// but os.Exit(Main()).
func IsWorker(args []string) bool {
	return len(args) == 3 && slices.Equal(args[1:], Args())
}

// A Tier says how a command is confined.
type Tier string

// The tiers, strongest first.
const (
	// Namespaces gives the command a root of its own, in which there is only
	// what it may see, a PID namespace, Landlock and seccomp.
	Namespaces Tier = "namespaces"
	// Landlock leaves the command in the host's file tree, where it can open
	// only what it may. Seccomp forbids all sockets.
	Landlock Tier = "landlock"
	// Off confines nothing. Limits, environment and killing stay.
	Off Tier = "off"
)

// An Order is what the worker is to run, sent as JSON.
type Order struct {
	Tier      Tier           `json:"tier"`
	Command   string         `json:"command"`
	Workspace string         `json:"workspace"` // on the host, absolute
	Dir       string         `json:"dir"`       // relative to the workspace
	Env       []string       `json:"env"`       // but for HOME and TMPDIR
	Read      []string       `json:"read"`      // further host paths that may be read
	Limits    sandbox.Limits `json:"limits"`    // with defaults
	Network   bool           `json:"network"`
}

// A Report is what came of an order, sent as JSON.
type Report struct {
	Failure  string `json:"failure,omitempty"` // why the command could not be started
	ExitCode int    `json:"exit_code"`
	Signal   string `json:"signal,omitempty"`
}
