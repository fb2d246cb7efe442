package prompt

import (
	"slices"

	"chela"
)

// The host's notes at the start and the end of a memory flush.
const (
	FlushNote = "The beginning of this conversation will leave the prompt soon. If it contains facts that you will need later and that are not in your memory yet, " +
		"write them down now with memory_write, briefly. Then answer NO_REPLY. This answer is not shown to anyone, and other tools do not run until then."
	ResumeNote = "The memory notes are done. Now continue with the previous request."
)

// FlushTool is the tool required for a memory flush.
const FlushTool = "memory_write"

// memoryTools are the tools available during a flush.
var memoryTools = []string{FlushTool, "memory_read", "memory_tree", "memory_search"}

// maxFlushSteps is the maximum number of answers in a flush.
const maxFlushSteps = 3

// A Flush is the progress of a memory flush.
type Flush struct {
	On    bool // in progress
	Steps int  // answers so far
	Ended bool // complete, but NoteResume is still to be sent
}

// After returns the progress after an entry of the turn.
func (f Flush) After(e chela.Entry) Flush {
	switch note := e.Mark().Note; {
	case e.Kind() == chela.EntryNote && note == chela.NoteFlush:
		return Flush{On: true}
	case e.Kind() == chela.EntryToolResult, e.Kind() == chela.EntryNote && note != chela.NoteResume:
		return f
	case e.Kind() == chela.EntryAssistant && note == chela.NoteFlush:
		f.Steps++
		f.On = len(e.Answer().Calls) > 0
		f.Ended = !f.On
		return f
	}
	return Flush{} // resumed, superseded by another message, or compacted
}

// More reports whether the flush may take another step.
func (f Flush) More() bool { return f.On && f.Steps < maxFlushSteps }

// Takes reports whether a tool is currently available.
func (f Flush) Takes(tool string) bool { return !f.On || slices.Contains(memoryTools, tool) }
