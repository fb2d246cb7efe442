// Package record writes down what a model was asked and what came of it, and plays
// it again without asking anybody: for tests, bug reports and demonstrations.
//
// # A recording
//
// A recording is a folder with a JSON file for each request that came to its end:
// the request, the pieces of the answer as they arrived, and the finish or the
// error. Attachments are named by their hash; their bytes are not in it. A request
// that was cancelled is not recorded.
//
// Nothing reaches a file before it passed a [Scrubber], which takes out the
// configured secrets in every form in which they may have been written, and what
// looks like a key of a known kind. A secret that arrives in several pieces is
// found all the same.
//
// # Playing it
//
// A request is the same as a recorded one if the model would see no difference:
// system text, messages, tools, thinking level and the limit of the answer. Which
// model is asked does not matter, nor do the names that calls were given. What was
// recorded several times is played in the order of the recording, and the last of
// them from then on. A request that was not recorded is an Invalid error that says
// what is different in the nearest one.
//
//	request ─▶ recorded once       its answer, each time
//	        ─▶ recorded n times    first, second … n-th, n-th …
//	        ─▶ not recorded        Invalid
package record
