package provider

import (
	"iter"

	"chela"
)

// A relay passes several attempts at one stream on to one reader.
type relay struct {
	yield func(chela.Chunk, error) bool
	seen  bool // the reader has seen part of an attempt that failed
}

// pass forwards an attempt and returns its error. If the reader has seen part
// of an earlier attempt, the first chunk is preceded by Anew. It returns nil if
// the reader stops.
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
