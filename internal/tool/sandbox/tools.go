package sandbox

import "strings"

// HomeDir is the home folder of a command as the command sees it, where the sandbox
// has a file tree of its own.
const HomeDir = "/caches"

// InHome stands for the home folder of a command in the values of its variables.
const InHome = "${HOME}"

// Tools are programs of the user that a command may use besides those of the system,
// and the settings with which they work. The zero value has none.
type Tools struct {
	Mounts []Mount
	Path   []string          // folders of programs, before those of DefaultPath; all are visible
	Last   []string          // folders of programs after those of DefaultPath
	Env    map[string]string // variables, in whose values [InHome] is the home folder of the command
}

// A Mount is a file or folder of the host that a command sees at a path.
type Mount struct {
	Host     string `json:"host"` // absolute, clean, without symbolic links: none is followed
	Path     string `json:"path"`
	Writable bool   `json:"writable,omitempty"`
}

// A ToolFinder returns the tools of the next command; nil returns none.
type ToolFinder func() (Tools, error)

// Find returns the tools of a command, which may only read.
func (f ToolFinder) Find(readOnly bool) (t Tools, err error) {
	if f != nil {
		t, err = f()
	}
	if err == nil && readOnly {
		t = t.Reading()
	}
	return t, err
}

// PATH returns the PATH of a command with the tools.
func (t Tools) PATH() string {
	var dirs []string
	seen := map[string]bool{}
	for _, list := range [][]string{t.Path, strings.Split(DefaultPath, ":"), t.Last} {
		for _, dir := range list {
			if !seen[dir] {
				seen[dir] = true
				dirs = append(dirs, dir)
			}
		}
	}
	return strings.Join(dirs, ":")
}

// Reading returns the tools for a command that only reads: nothing is writable, and
// nothing that an earlier command wrote is found.
func (t Tools) Reading() Tools {
	mounts := make([]Mount, len(t.Mounts))
	for i, m := range t.Mounts {
		m.Writable = false
		mounts[i] = m
	}
	t.Mounts, t.Last = mounts, nil
	return t
}
