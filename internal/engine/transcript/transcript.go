package transcript

import (
	"context"
	"time"

	"chela"
	"chela/internal/api"
)

// MaxBytes is the maximum size of an imported file, and MaxEntries its maximum
// number of entries.
const (
	MaxBytes   = api.MaxTranscript
	MaxEntries = 50_000
)

// A Transcript is an exported thread.
type Transcript struct {
	Session   chela.SessionKey // origin; empty if unknown
	Thread    chela.ThreadID   // origin
	Title     string
	CreatedAt time.Time
	Compacted bool          // contains only the entries of the current prompt
	Head      chela.EntryID // head of the thread; empty without entries

	Entries []chela.Entry // parents come first
	Turns   []chela.Turn  // in the order of their first entries

	// Attached are the attachments of the entries, in their order.
	Attached []AttachedFile
}

// AttachedFile is an attachment in a file.
type AttachedFile struct {
	chela.Attachment
	Line    int    // line number
	Content []byte // nil if the file has only its hash
	Needed  bool   // required to build a prompt
}

// TooLarge returns the error for a file with more than MaxBytes.
func TooLarge() error {
	return chela.Ef(chela.Invalid, "the transcript is larger than %d MiB", MaxBytes>>20).
		WithHint("export it without attachments, or compacted")
}

// A LoadFunc returns the bytes of an attachment.
type LoadFunc func(context.Context, chela.Attachment) ([]byte, error)
