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

// A fileID identifies a file with several names.
type fileID struct{}

// idOf reports that no file has a second name, as hasOtherLink does.
func idOf(fs.FileInfo) (fileID, bool) { return fileID{}, false }

// onDisk returns the size of a file.
func onDisk(info fs.FileInfo) int64 { return info.Size() }
