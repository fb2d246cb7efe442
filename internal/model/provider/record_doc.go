package provider

// This part of the package records requests to models and their answers, and
// replays them offline: for tests, bug reports and demonstrations.
//
// # A recording
//
// A recording is a folder with a JSON file for each completed request: the
// request, the chunks of the answer as they arrived, and the finish or the
// error. Attachments are stored by hash, without their bytes. Cancelled
// requests are not recorded.
//
// All text passes a [Scrubber] before it is written. It removes the configured
// secrets in every encoding, and keys of well-known forms, even if a secret
// arrives split over several chunks.
//
// # Replay
//
// A request matches a recorded one if the model would see no difference: system
// text, messages, tools, thinking level and output limit. The requested model
// and the ids of calls are ignored. Repeated requests replay their recordings
// in order, and then the last one again and again. A request without a
// recording is Invalid, and the error names the first difference from the
// nearest recorded request.
//
//	request ─▶ recorded once       its answer, each time
//	        ─▶ recorded n times    first, second … n-th, n-th …
//	        ─▶ not recorded        Invalid
