// Package snapshot captures the files of a workspace before a command runs, so
// that a rewind can restore them.
//
//	Prepare ─▶ walk ─▶ stamps that differ from the index: content into the pack
//	                ─▶ pack synced ─▶ batch added and synced ─▶ reference "generation.batch"
//	Run     ─▶ walk ─▶ stamps that differ from the snapshot: pre-images
//
// # Index and pack
//
// Each workspace has a folder in the home, named by a hash of its path. It holds
// an index, a log of batches of changed folders, and a pack with compressed
// contents. The reference of a snapshot names a batch, so a snapshot survives a
// crash of the command: the index is replayed up to that batch. A pack in which
// less than half is used is rewritten as a new generation; the generation before
// is kept for commands that run. Contents reach the blob store only once a
// command changed them, and stay there like those of the file tools.
//
// # Limits
//
// Ignored folders (.gitignore, .git/info/exclude, caches, dependencies, objects of
// Git) are not walked. Content is captured up to 10 MiB per file and a budget of bytes and
// time in total; files that were changed last come first, and the next command
// captures more. Changes without captured content become chela.PreimageOmitted.
//
// The folder of a workspace that is gone, or had no command for a week, is removed,
// and the oldest beyond a total. A command that runs in it has no snapshot then.
//
// # Attribution
//
// Everything that changes between Prepare and the end of Run is attributed to the
// command, edits by people and other commands at the same time included; after a
// crash everything until the call is resolved.
package snapshot
