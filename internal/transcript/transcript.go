package transcript

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/api"
)

// MaxBytes is the largest file that is read, and MaxEntries how many entries it
// may have.
const (
	MaxBytes   = api.MaxTranscript
	MaxEntries = 50_000
)

// A Transcript is a thread as it is written down.
type Transcript struct {
	Session   chela.SessionKey // that it came from; empty if that is not known
	Thread    chela.ThreadID   // that it came from
	Title     string
	CreatedAt time.Time
	Compacted bool          // it holds what a prompt can hold, not the whole thread
	Head      chela.EntryID // where the conversation ends; empty without entries

	Entries []chela.Entry // parents come first
	Turns   []chela.Turn  // in the order of their first entries

	// Attached are the attachments of the entries, in their order.
	Attached []Attached
}

// Attached is an attachment as it is in a file.
type Attached struct {
	chela.Attachment
	Line    int    // of the file
	Content []byte // nil if only its hash is there
	Needed  bool   // a prompt that it is in cannot be made without it
}

// TooLarge is the error for a file with more than MaxBytes.
func TooLarge() error {
	return chela.E(chela.Invalid, fmt.Sprintf("the transcript is larger than %d MiB", MaxBytes>>20)).
		WithHint("export it without attachments, or compacted")
}

// A LoadFunc returns the bytes of an attachment.
type LoadFunc func(context.Context, chela.Attachment) ([]byte, error)
