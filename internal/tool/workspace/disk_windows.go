package workspace

import (
	"io/fs"
	"os"
)

// hasOtherLink always reports false: Windows does not return link counts with
// directory listings.
func hasOtherLink(fs.FileInfo) bool { return false }

// syncDir does nothing: Windows cannot sync directories, and journals their
// changes itself.
func syncDir(*os.Root, string) error { return nil }
