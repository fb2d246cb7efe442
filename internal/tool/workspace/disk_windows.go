package workspace

import (
	"io/fs"
	"os"
)

// syncDir does nothing: Windows cannot sync directories, and journals their
// changes itself.
func syncDir(*os.Root, string) error { return nil }

// A fileID identifies a file with several names.
type fileID struct{}

// idOf reports that no file has a second name: Windows does not return link
// counts with directory listings.
func idOf(fs.FileInfo) (fileID, bool) { return fileID{}, false }

// onDisk returns the size of a file.
func onDisk(info fs.FileInfo) int64 { return info.Size() }
