package sandbox

import (
	"context"
	"fmt"

	"chela/internal/tool/workspace"
)

// A DiskMeter measures a workspace while a command runs. A workspace that exceeds
// its limits when the command begins may not grow, so that a command can delete
// files. It is not safe for concurrent use.
type DiskMeter struct {
	Limits Limits // with defaults
	Dir    string // on the host

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
		d.begun, d.bytes, d.files = true, max(used.Bytes, d.Limits.WorkspaceSize), max(used.Files, d.Limits.WorkspaceFiles)
	}
	if d.Processes != nil {
		used.Bytes += Unnamed(d.Dir, d.Processes())
	}
	switch {
	case used.Bytes > d.bytes:
		return "filled the workspace beyond " + Size(d.bytes)
	case used.Files > d.files:
		return fmt.Sprintf("filled the workspace beyond %d files", d.files)
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
