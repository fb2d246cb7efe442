package chela

// A Replay is what came of running a turn again from its record.
type Replay struct {
	Turn       TurnID      `json:"turn"`
	Recorded   Ending      `json:"recorded"`
	Same       bool        `json:"same"`
	Entries    int         `json:"entries"`              // of the record
	Difference *Difference `json:"difference,omitempty"` // the first one
	Prompts    []StepSize  `json:"prompts"`              // what the model was sent, in order

	// Live is the turn that asks the model again, with the same messages, where
	// that was wanted.
	Live TurnID `json:"live,omitempty"`
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
