package provider

import (
	"iter"

	"chela"
)

// A relay passes attempts at one stream on to one reader.
type relay struct {
	yield func(chela.Chunk, error) bool
	seen  bool // the reader was shown part of an answer that did not come to its end
}

// pass passes an attempt on, but for its error, which is returned. If the reader
// was shown part of an earlier attempt, that is declared void once there is
// something to show in its place. It returns nil if the reader wants no more.
func (r *relay) pass(stream iter.Seq2[chela.Chunk, error]) error {
	void := r.seen
	for chunk, err := range stream {
		if err != nil {
			return err
		}
		if chunk.Unseen == 0 {
			if void && !chunk.Anew && !r.yield(chela.Chunk{Anew: true}, nil) {
				return nil
			}
			void, r.seen = false, !chunk.Anew
		}
		if !r.yield(chunk, nil) {
			return nil
		}
	}
	return nil
}

// fail ends the stream with an error.
func (r *relay) fail(err error) { r.yield(chela.Chunk{}, err) }
