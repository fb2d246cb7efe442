package prompt

import (
	"cmp"
	"fmt"

	"chela"
)

// DefaultWindow is the window assumed of a model that nothing is known about,
// in tokens.
const DefaultWindow = 100_000

// Settings say how much of a window is kept free and how much of a
// conversation a compaction keeps, in tokens.
type Settings struct {
	Reserve      int // kept free for the answer
	ReserveFloor int // the least that is kept free, whatever Reserve says
	KeepRecent   int // kept by a compaction
	Soft         int // how far below the first threshold notes for the memory are asked for
}

// DefaultSettings are the settings of a home that says nothing else.
func DefaultSettings() Settings {
	return Settings{Reserve: 16_384, ReserveFloor: 20_000, KeepRecent: 20_000, Soft: 4_000}
}

// A Budget is the room for a prompt, in tokens as the provider counts them.
type Budget struct {
	Window int
	Room   int // for a whole prompt
	Frame  int // taken by system text and tools, as counted here
	Keep   int // of a conversation, by a compaction
	Soft   int // how far below the first threshold notes for the memory are asked for
}

// Budget returns the room in a frame's window. The reserve is at most a quarter
// of the window, what is kept at most half the room.
func (s Settings) Budget(f Frame) Budget {
	window := cmp.Or(f.Window, DefaultWindow)
	room := window - min(max(s.Reserve, s.ReserveFloor), window/4)
	return Budget{
		Window: window, Room: room, Frame: f.SystemTokens + f.ToolTokens,
		Keep: min(s.KeepRecent, room/2), Soft: min(s.Soft, room/5),
	}
}

// Used returns what a prompt takes.
func (b Budget) Used(c Conversation) int { return c.Corrected(b.Frame + c.Tokens) }

// Fits reports whether a prompt fits.
func (b Budget) Fits(c Conversation) bool { return b.Used(c) <= b.Room }

// Check returns an Exhausted error if a prompt does not fit.
func (b Budget) Check(c Conversation) error {
	if b.Fits(c) {
		return nil
	}
	return chela.E(chela.Exhausted, fmt.Sprintf("prompt too large: about %d tokens, and %d fit the model", b.Used(c), b.Room)).
		WithHint("begin a new session, send less at once, or use a model with a larger window")
}

// over reports whether a prompt takes more than so many hundredths of the room.
func (b Budget) over(c Conversation, percent int) bool { return b.Used(c)*100 > b.Room*percent }

// FlushDue reports whether it is time to ask for notes for the memory: a
// compaction is near, there was none for this request already, and the model
// can still be asked with all that would leave.
func (b Budget) FlushDue(c Conversation) bool {
	used := b.Used(c)
	return !c.Flushed && c.Tried == "" && used > b.Room*archiveAbove/100-b.Soft && used <= b.Window-b.Soft
}

// Breakdown returns what each part of a prompt takes.
func Breakdown(b Budget, f Frame, c Conversation) chela.PromptSize {
	size := chela.PromptSize{
		Window: b.Window, Room: b.Room, Reserve: b.Window - b.Room,
		System: f.SystemTokens, Tools: f.ToolTokens, Messages: len(c.Messages), Ratio: c.Ratio, Total: b.Used(c),
	}
	for _, p := range c.Parts {
		switch p.Kind {
		case chela.EntryCompaction:
			size.Summary += p.Tokens
		case chela.EntryAssistant:
			size.Assistant += p.Tokens
		case chela.EntryToolResult:
			size.Tool += p.Tokens
		default:
			size.User += p.Tokens
		}
	}
	return size
}
