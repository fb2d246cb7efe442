// Package process runs commands on this machine in a sandbox made of what the
// kernel offers to every user, without a daemon and without root.
//
// What a command gets: the workspace to read and write, an empty /tmp that
// vanishes after it, the system's programs and libraries to read, a scrubbed
// environment, and limits. What it does not get: any other file, the network,
// other processes, new privileges. When it ends, is cancelled or takes too
// long, or when chela dies, everything it started is killed, however it was
// started. See package worker for how.
//
// Two tiers are tried, the stronger first, and one must be there in full:
//
//	namespaces   user, mount, PID, network and IPC namespaces, Landlock, seccomp
//	landlock     Landlock 6 or newer (Linux 6.12), seccomp: where namespaces are forbidden
//
// Landlock does not look at everything that a command could change outside. In
// its tier the filter refuses what it does not look at, System V memory and
// the scheduling of other processes among it, and the worker itself changes
// modes and times of files, within the workspace only.
//
// Landlock before version 6 cannot keep a command from killing the user's
// other programs, so without a PID namespace it is not enough.
//
// Not bounded: the memory, processor time and disk space of all processes of a
// command together; each has its own limit. The number of processes is not
// bounded for user 0 where there are no namespaces, or Linux is older than
// 6.14. Not hidden in the landlock tier: that a file exists, and its size and
// times.
package process

import (
	"cmp"
	"path/filepath"
	"strings"

	"chela"
	"chela/internal/sandbox"
)

// Config says how commands are confined. The zero value is the strongest way
// that the machine offers.
type Config struct {
	// Off confines nothing. Limits, the scrubbed environment and the killing
	// of all that a command started remain. The caller must have made sure
	// that a person wants this.
	Off bool

	// NoNamespaces leaves namespaces out, as on a machine that forbids them.
	NoNamespaces bool

	Read []string // further absolute host paths that a command may read and execute
	Path string   // the PATH of a command; empty means sandbox.DefaultPath
}

func (c Config) check() error {
	for _, p := range c.Read {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p || p == "/" {
			return chela.E(chela.Invalid, "sandbox path "+p+" is not a clean absolute path")
		}
	}
	for _, p := range strings.Split(cmp.Or(c.Path, sandbox.DefaultPath), ":") {
		if !filepath.IsAbs(p) {
			return chela.E(chela.Invalid, "sandbox PATH has an entry that is not absolute")
		}
	}
	return nil
}
