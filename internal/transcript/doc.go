// Package transcript writes threads down as text and reads them again: one JSON
// object a line, in a tree format that other programs write too.
//
//	{"type":"session","version":2,"id":"thr_…","timestamp":"2026-…Z","chela":{…}}
//	{"type":"message","id":"ent_1","parentId":null,"role":"user","content":[…]}
//	{"type":"message","id":"ent_2","parentId":"ent_1","role":"assistant",…}
//	{"type":"message","id":"ent_3","parentId":"ent_2","role":"tool","toolCallId":…}
//	{"type":"compaction","id":"ent_4","parentId":"ent_3","summary":…,"firstKeptEntryId":…}
//
// # Lines
//
// The first line tells what the file is. Every other line is an entry and names
// the one that it hangs under; that one comes before it. An entry of kind user,
// assistant or tool_result is a message, a note a custom_message, and the other
// kinds have their own names. What a message holds is a list of blocks: text,
// thinking, toolCall, image and file.
//
// What the format has no place for is in the field "chela" of a line or of a
// block, so that nothing is lost: what is written and read again is the same to
// the byte. A field that grows in the root package travels there by itself.
//
// # What is read
//
// A file of chela keeps its ids, so that reading it twice is known to be the
// same. The ids of other programs become ids of chela that are always the same
// for the same file. Lines of kinds that are not known become custom entries,
// which are no part of a prompt.
//
// What comes out is well-formed, whatever goes in: parents come first, a result
// answers a call that waits for one, no call is answered twice, a compaction
// keeps what is above it, and every entry is of a turn. A call that was never
// answered gets a result that says that it was skipped. Anything else is refused
// with the number of its line.
//
// Where a file does not say so itself, what a person said begins a turn, so that
// it can be undone turn by turn.
package transcript
