package prompt

import (
	"slices"

	"chela"
)

// What the host says around a memory flush.
const (
	FlushNote = "The beginning of this conversation will leave the prompt soon. If there is something in it that should be known later on and is not in your memory yet, " +
		"write it down now with memory_write, briefly. Then answer NO_REPLY. Nobody sees this answer, and other tools are not run until then."
	ResumeNote = "That was about memory. Now go on with what you were asked before."
)

// FlushTool is the tool without which nobody is asked for notes.
const FlushTool = "memory_write"

// memoryTools are the tools that a flush may use.
var memoryTools = []string{FlushTool, "memory_read", "memory_tree", "memory_search"}

// maxFlushSteps is how many answers a flush takes.
const maxFlushSteps = 3

// A Flush is how far the model is with its notes for the memory.
type Flush struct {
	On    bool // it was asked for them and has not said that it is done
	Steps int  // answers since then
	Ended bool // it was not told yet to go on with what it was asked
}

// After returns how far a flush is after an entry of its turn.
func (f Flush) After(e chela.Entry) Flush {
	switch {
	case e.Kind == chela.EntryNote && e.Body.Note == chela.NoteFlush:
		return Flush{On: true}
	case e.Kind == chela.EntryToolResult, e.Kind == chela.EntryNote && e.Body.Note != chela.NoteResume:
		return f
	case e.Kind == chela.EntryAssistant && e.Body.Note == chela.NoteFlush:
		f.Steps++
		f.On = len(e.Body.Calls) > 0
		f.Ended = !f.On
		return f
	}
	return Flush{} // it was told to go on, or somebody said something else, or it left the prompt
}

// More reports whether the model may take another step for its notes.
func (f Flush) More() bool { return f.On && f.Steps < maxFlushSteps }

// Takes reports whether a tool may be used now.
func (f Flush) Takes(tool string) bool { return !f.On || slices.Contains(memoryTools, tool) }
