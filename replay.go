package chela

// A Replay is what came of running a turn again from its record.
type Replay struct {
	Turn       TurnID      `json:"turn"`
	Recorded   Ending      `json:"recorded"`
	Same       bool        `json:"same"`
	Entries    int         `json:"entries"`              // of the record
	Difference *Difference `json:"difference,omitempty"` // the first one
	Prompts    []StepSize  `json:"prompts"`              // what the model was sent, in order

	// Live is what came of asking the model again, where that was wanted.
	Live *LiveTurn `json:"live,omitempty"`
}

// A LiveTurn is a turn that was given the same messages as another one, in a
// thread of its own that branches off where that one began.
type LiveTurn struct {
	Thread ThreadID `json:"thread"`
	Turn   TurnID   `json:"turn"`
	Ending Ending   `json:"ending"` // so far, where it waits for a person
}

// An Ending is how a turn ended.
type Ending struct {
	State   TurnState `json:"state"`
	Failure *Failure  `json:"failure,omitempty"`
	Answer  string    `json:"answer,omitempty"` // of the model, the newest
	Steps   int       `json:"steps"`
}

// A Difference is the first place at which a replay does not come to what the
// record says. A side that has nothing there is empty.
type Difference struct {
	Place    string `json:"place"` // such as "entry 3 (tool_result): text"
	Recorded string `json:"recorded,omitempty"`
	Replayed string `json:"replayed,omitempty"`
}

// A StepSize says how large the request of one step to the model was.
type StepSize struct {
	Step     int `json:"step"`
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"` // of system text, tools and messages as JSON
}
