package prompt

import (
	"cmp"

	"chela/internal/api"

	"chela"
)

// DefaultWindow is the window assumed for an unknown model, in tokens.
const DefaultWindow = 100_000

// Settings configure the reserve of a window and the part of a conversation
// kept by a compaction, in tokens.
type Settings struct {
	Reserve      int // reserved for the answer
	ReserveFloor int // lower bound of Reserve
	KeepRecent   int // kept by a compaction
	Soft         int // distance below the first threshold at which a memory flush is due
}

// DefaultSettings returns the settings of an unconfigured home.
func DefaultSettings() Settings {
	return Settings{Reserve: 16_384, ReserveFloor: 20_000, KeepRecent: 20_000, Soft: 4_000}
}

// A Budget is the room for a prompt, in the provider's tokens.
type Budget struct {
	Window int
	Room   int // maximum size of a prompt
	Frame  int // size of system text and tools, as estimated here
	Keep   int // part of a conversation kept by a compaction
	Soft   int // distance below the first threshold at which a memory flush is due
}

// Budget returns the budget for a frame's window. The reserve is at most a
// quarter of the window, the kept part at most half the room.
func (s Settings) Budget(f Frame) Budget {
	window := cmp.Or(f.Window, DefaultWindow)
	room := window - min(max(s.Reserve, s.ReserveFloor), window/4)
	return Budget{
		Window: window, Room: room, Frame: f.SystemTokens + f.ToolTokens,
		Keep: min(s.KeepRecent, room/2), Soft: min(s.Soft, room/5),
	}
}

// Used returns the expected size of a prompt.
func (b Budget) Used(c Conversation) int { return c.Corrected(b.Frame + c.Tokens) }

// Fits reports whether a prompt fits.
func (b Budget) Fits(c Conversation) bool { return b.Used(c) <= b.Room }

// Check returns an Exhausted error if a prompt does not fit.
func (b Budget) Check(c Conversation) error {
	if b.Fits(c) {
		return nil
	}
	return chela.Ef(chela.Exhausted, "prompt too large: about %d tokens; the model takes %d", b.Used(c), b.Room).
		WithHint("start a new session, send less at once, or use a model with a larger window")
}

// over reports whether a prompt uses more than percent of the room.
func (b Budget) over(c Conversation, percent int) bool { return b.Used(c)*100 > b.Room*percent }

// FlushDue reports whether a memory flush is due: a compaction is near, none
// was tried for this request yet, and the prompt still fits the window.
func (b Budget) FlushDue(c Conversation) bool {
	used := b.Used(c)
	return !c.Flushed && c.Tried == "" && used > b.Room*archiveAbove/100-b.Soft && used <= b.Window-b.Soft
}

// Breakdown returns the size of each part of a prompt.
func Breakdown(b Budget, f Frame, c Conversation) api.PromptSize {
	size := api.PromptSize{
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
