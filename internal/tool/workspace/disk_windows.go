package workspace

import (
	"io/fs"
	"os"
)

// hasOtherLink cannot tell: Windows does not count links where files are
// listed.
func hasOtherLink(fs.FileInfo) bool { return false }

// syncDir does nothing: Windows cannot sync directories, and journals their
// changes itself.
func syncDir(*os.Root, string) error { return nil }
