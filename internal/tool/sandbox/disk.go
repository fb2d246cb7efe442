package sandbox

import (
	"context"
	"fmt"

	"chela/internal/tool/workspace"
)

// maxHomeFiles limits the files and directories of Spec.Home.
const maxHomeFiles = 4_000_000

// A DiskMeter measures a workspace, or a home folder, while a command runs. A workspace that exceeds
// its limits when the command begins may not grow, so that a command can delete
// files. It is not safe for concurrent use.
type DiskMeter struct {
	Limits Limits // with defaults
	Dir    string // on the host
	Home   bool   // it is the home of the command, whose limits are others

	Processes func() []int // of the command, whose deleted files count too; nil for none

	begun bool
	bytes int64 // limit
	files int   // limit
}

// Exceeded measures the workspace and returns which limit it exceeds, or "". The
// first measurement exceeds none.
func (d *DiskMeter) Exceeded(ctx context.Context) string {
	used, err := workspace.Measure(ctx, d.Dir)
	if err != nil { // ctx is done
		return ""
	}
	if !d.begun {
		size, files := d.Limits.WorkspaceSize, d.Limits.WorkspaceFiles
		if d.Home {
			size, files = d.Limits.HomeSize, maxHomeFiles
		}
		d.begun, d.bytes, d.files = true, max(used.Bytes, size), max(used.Files, files)
	}
	if d.Processes != nil {
		used.Bytes += Unnamed(d.Dir, d.Processes())
	}
	what := "the workspace"
	if d.Home {
		what = "its caches in $HOME"
	}
	switch {
	case used.Bytes > d.bytes:
		return "filled " + what + " beyond " + Size(d.bytes)
	case used.Files > d.files:
		return fmt.Sprintf("filled %s beyond %d files", what, d.files)
	default:
		return ""
	}
}

// Size formats a number of bytes for people.
func Size(n int64) string {
	const mib, gib = 1 << 20, 1 << 30
	if n%gib == 0 {
		return fmt.Sprintf("%d GiB", n/gib)
	}
	return fmt.Sprintf("%d MiB", n/mib)
}
