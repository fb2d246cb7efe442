// Package sandbox holds the words for running a command apart from the rest of
// the machine: what is asked for, under which limits, and what came of it. The
// subpackages run it.
package sandbox

import "time"

// Root is the path by which a command, and the model, know the workspace.
const Root = "/workspace"

// MaxOutput is how much of a command's output is kept, in bytes. The first and
// the last half stay, the middle is dropped.
const MaxOutput = 8 << 20

// A Spec is one command to be run.
type Spec struct {
	Command   string            // a line for the shell, bash where there is one
	Workspace string            // absolute path on the host; all that the command may change
	Workdir   string            // where it begins: below Root or relative to it; empty is Root
	Env       map[string]string // further variables; what could change how programs load is refused
	Timeout   time.Duration     // after which everything is killed; 0 leaves that to ctx
	Limits    Limits
	Network   bool // may use the network; without it there are no sockets but local ones

	// Output is called with each piece of output as it comes, one call at a
	// time, always valid UTF-8. It may be nil. It must not block for long:
	// the command waits for it.
	Output func(text string)
}

// Limits bound what one command may use. A zero field means the default.
type Limits struct {
	Processes int           `json:"processes"`  // at one time; default 256
	Memory    int64         `json:"memory"`     // bytes of private memory of one process; default 4 GiB
	FileSize  int64         `json:"file_size"`  // bytes of one file; default 1 GiB
	TmpSize   int64         `json:"tmp_size"`   // bytes in /tmp; default 1 GiB
	OpenFiles int           `json:"open_files"` // of one process; default 4096
	CPU       time.Duration `json:"cpu"`        // processor time of one process; default one hour
}

// WithDefaults returns l with the defaults in place of its zero fields.
func (l Limits) WithDefaults() Limits {
	const gib = 1 << 30
	l.Processes = positive(l.Processes, 256)
	l.Memory = positive(l.Memory, 4*gib)
	l.FileSize = positive(l.FileSize, gib)
	l.TmpSize = positive(l.TmpSize, gib)
	l.OpenFiles = positive(l.OpenFiles, 4096)
	l.CPU = positive(l.CPU, time.Hour)
	return l
}

func positive[N ~int | ~int64](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

// A Result is what came of a command that could be started.
type Result struct {
	ExitCode int    // of the shell; 128 and the signal's number when a signal ended it
	Signal   string // the name of that signal, such as "SIGKILL"; else empty
	TimedOut bool   // killed because Spec.Timeout was over
	Output   string // what it wrote to both of its outputs, in order; valid UTF-8
	Dropped  int64  // bytes of output left out of the middle of Output
	Took     time.Duration
}
