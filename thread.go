package chela

import (
	"strings"
	"time"
)

// A Thread is a tree of entries inside a session. Its conversation is the path
// from Head to the root. Undo moves Head, a branch appends under an older
// entry; entries themselves never change.
type Thread struct {
	ID        ThreadID    `json:"id"`
	Session   SessionKey  `json:"session"`
	Title     string      `json:"title"`
	Head      EntryID     `json:"head,omitempty"` // parent of the next entry; empty in a new thread
	Seq       int64       `json:"seq"`            // sequence number of the newest entry; 0 in a new thread
	State     ThreadState `json:"state"`
	CreatedAt time.Time   `json:"created_at"`
	UpdatedAt time.Time   `json:"updated_at"`
}

// ThreadState is the state of a thread.
type ThreadState string

// The states of a thread.
const (
	ThreadIdle        ThreadState = "idle"              // no turn is open
	ThreadProcessing  ThreadState = "processing"        // a turn is open and may run
	ThreadAwaiting    ThreadState = "awaiting_approval" // the open turn waits for a person or a client-side tool result
	ThreadInterrupted ThreadState = "interrupted"       // the last turn was stopped; a new one may begin
	ThreadRewinding   ThreadState = "rewinding"         // its head is moving, and files are being restored
)

var threadMoves = map[ThreadState][]ThreadState{
	ThreadIdle:        {ThreadProcessing, ThreadRewinding},
	ThreadProcessing:  {ThreadAwaiting, ThreadIdle, ThreadInterrupted},
	ThreadAwaiting:    {ThreadProcessing, ThreadIdle, ThreadInterrupted},
	ThreadInterrupted: {ThreadProcessing, ThreadRewinding},
	ThreadRewinding:   {ThreadIdle},
}

// CanMove reports whether the transition from s to to is legal.
func (s ThreadState) CanMove(to ThreadState) bool { return canMove(threadMoves, s, to) }

// canMove looks a move up in a table of legal moves.
func canMove[S comparable](moves map[S][]S, from, to S) bool {
	for _, s := range moves[from] {
		if s == to {
			return true
		}
	}
	return false
}

// TitleOf derives a thread's title from its first message: the beginning of its
// first line.
func TitleOf(text string) string {
	const most = 60 // characters
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	n, cut := 0, 0
	for i := range text {
		if n++; n == most {
			cut = i
		}
	}
	if n > most {
		return text[:cut] + "…"
	}
	return text
}

// ShortTitleOf derives a thread's title from its first message by rules: the first
// sentence of its first line with words, without Markdown's marks, and cut between two
// words where it is long.
func ShortTitleOf(text string) string {
	var title string
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#>*-+ ")
		title = strings.Join(strings.Fields(strings.NewReplacer("**", "", "__", "", "`", "").Replace(line)), " ")
		if title != "" {
			break
		}
	}
	for _, end := range []string{". ", "? ", "! "} {
		if i := strings.Index(title, end); i >= leastSentence {
			title = strings.TrimSuffix(title[:i+1], ".")
		}
	}
	short := TitleOf(title)
	if short == title {
		return title
	}
	if i := strings.LastIndexByte(short, ' '); i > len(short)/2 {
		return short[:i] + "…"
	}
	return short
}

// leastSentence is the length of the shortest sentence that is a title, in bytes: what
// ends before may be an abbreviation or a greeting.
const leastSentence = 12
