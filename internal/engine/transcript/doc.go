// Package transcript exports threads as text and imports them: one JSON object
// per line, in a tree format shared with other programs.
//
//	{"type":"session","version":2,"id":"thr_…","timestamp":"2026-…Z","chela":{…}}
//	{"type":"message","id":"ent_1","parentId":null,"role":"user","content":[…]}
//	{"type":"message","id":"ent_2","parentId":"ent_1","role":"assistant",…}
//	{"type":"message","id":"ent_3","parentId":"ent_2","role":"tool","toolCallId":…}
//	{"type":"compaction","id":"ent_4","parentId":"ent_3","summary":…,"firstKeptEntryId":…}
//
// # Lines
//
// The first line is a header. Every other line is an entry and names its
// parent, which precedes it. Entries of kind user, assistant or tool_result are
// messages, a note is a custom_message, and the other kinds have their own
// types. The content of a message is a list of blocks: text, thinking,
// toolCall, image and file.
//
// Data without a place in the format is in the field "chela" of a line or of a
// block, so that a round trip is lossless: exporting an imported transcript
// gives the same bytes. New fields of the root package are included
// automatically.
//
// # Import
//
// A file of chela keeps its ids, so that repeated imports are recognized. The
// ids of other programs are mapped deterministically to ids of chela. Lines of
// unknown types become custom entries, which are not part of a prompt.
//
// The result is always well-formed: parents come first, a result answers an
// open call, no call is answered twice, a compaction keeps entries above it,
// and every entry belongs to a turn. An unanswered call gets a result that says
// that it was skipped. Anything else is refused with the number of its line.
//
// In a file without turns each user message begins one, so that the thread can
// be undone turn by turn.
package transcript
