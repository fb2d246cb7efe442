package api

import "chela"

// A Replay is the result of running a turn again from its record.
type Replay struct {
	Turn       chela.TurnID `json:"turn"`
	Recorded   Ending       `json:"recorded"`
	Same       bool         `json:"same"`
	Entries    int          `json:"entries"`              // number of recorded entries
	Difference *Difference  `json:"difference,omitempty"` // the first one
	Prompts    []StepSize   `json:"prompts"`              // size of each request to the model, in order

	// Live is the turn that asked the model again, if requested.
	Live *LiveTurn `json:"live,omitempty"`
}

// A LiveTurn is a turn that received the same messages as another one, in a
// thread of its own that branches off at the start of the original.
type LiveTurn struct {
	Thread chela.ThreadID `json:"thread"`
	Turn   chela.TurnID   `json:"turn"`
	Ending Ending         `json:"ending"` // so far, if it waits for a person
}

// An Ending is the outcome of a turn.
type Ending struct {
	State   chela.TurnState `json:"state"`
	Failure *chela.Failure  `json:"failure,omitempty"`
	Answer  string          `json:"answer,omitempty"` // newest answer of the model
	Steps   int             `json:"steps"`
}

// A Difference is the first place where a replay deviates from the record. A
// side without a value there is empty.
type Difference struct {
	Place    string `json:"place"` // such as "entry 3 (tool_result): text"
	Recorded string `json:"recorded,omitempty"`
	Replayed string `json:"replayed,omitempty"`
}

// A StepSize is the size of one step's request to the model.
type StepSize struct {
	Step     int `json:"step"`
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"` // of system text, tools and messages as JSON
}
