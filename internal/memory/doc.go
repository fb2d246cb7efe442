// Package memory keeps the documents of agents: texts that stay across threads,
// named by paths.
//
// # Documents
//
// A document is never changed. A write, an append and a deletion each make a
// new version, of which the newest ones are kept. Every edit has a key, and a
// document takes each key once: whoever cannot know whether an edit was made
// makes it again and gets the version that it made. Edits of one document wait
// for each other, on every node.
//
// # What the agent is told
//
// Some documents say who the agent is and whom it serves. They are part of the
// system text of its turns (see [Keeper.Identity]), in one order, each in a frame
// and none longer than there is room. The same documents always give the same
// bytes. Who else may listen decides what is left out:
//
//	                  AGENTS SOUL IDENTITY USER TOOLS   MEMORY   BOOTSTRAP
//	the owner alone                yes                   yes        yes
//	groups and rooms               yes                   no         no
//	jobs and routines              yes                   yes        no
//
// # First documents
//
// An agent that never had a document gets its first ones with the first edit or
// the first turn, whichever comes first. What its owner deletes after that stays
// deleted.
package memory
