package chela

import "time"

// A KeyedRequest is a mutating request with an idempotency key: repeating it
// under the same key has no further effect. Keys are scoped to a token.
type KeyedRequest struct {
	Token     TokenID      `json:"token"`
	Key       string       `json:"key"`
	Hash      string       `json:"hash"` // of the whole request; another request under the same key is a Conflict
	State     RequestState `json:"state"`
	Status    int          `json:"status,omitempty"`     // HTTP status of the answer
	MediaType string       `json:"media_type,omitempty"` // of the answer
	Answer    string       `json:"answer,omitempty"`
	CreatedAt time.Time    `json:"created_at"`
	ExpiresAt time.Time    `json:"expires_at"` // after this the key may be reused
}

// RequestState is the state of a keyed request.
type RequestState string

// The states of a keyed request.
const (
	RequestRunning  RequestState = "running"  // in progress, or its process died
	RequestFailed   RequestState = "failed"   // refused or broken off: may be retried
	RequestAnswered RequestState = "answered" // repeats receive the stored answer
	RequestSettled  RequestState = "settled"  // done; the answer was too large or too secret to be stored
)

var requestMoves = map[RequestState][]RequestState{
	RequestRunning: {RequestFailed, RequestAnswered, RequestSettled},
	RequestFailed:  {RequestRunning},
}

// CanMove reports whether the transition from s to to is legal.
func (s RequestState) CanMove(to RequestState) bool { return canMove(requestMoves, s, to) }
