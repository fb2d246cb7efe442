package lane

import (
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
)

// MaxNotes is the maximum number of pending notes shown to a turn, newest first
// kept.
const MaxNotes = 50

// maxNotesBytes limits the total size of the notes; each note gets an even
// share of it.
const maxNotesBytes = 100_000

// FormatNotes formats notes as a list with their senders.
func FormatNotes(notes []chela.Note) string {
	var text strings.Builder
	for i, n := range notes {
		if i > 0 {
			text.WriteString("\n")
		}
		text.WriteString("- [" + n.From + "] " + excerpt.Marked(n.Text, maxNotesBytes/len(notes)))
	}
	return text.String()
}
