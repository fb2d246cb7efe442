package api

// A PromptSize breaks the next prompt of a thread down by part, in tokens. The
// parts are chela's own estimates, Total is the expected count of the provider.
type PromptSize struct {
	Model   string `json:"model"`
	Window  int    `json:"window"`
	Reserve int    `json:"reserve"` // reserved for the answer
	Room    int    `json:"room"`    // available to the prompt: the window less the reserve

	System    int `json:"system"`
	Tools     int `json:"tools"`
	Summary   int `json:"summary"` // of compacted entries
	User      int `json:"user"`    // notes of the host included
	Assistant int `json:"assistant"`
	Tool      int `json:"tool"`
	Messages  int `json:"messages"` // number of messages

	Ratio float64 `json:"ratio,omitempty"` // the provider's count per estimated token; 0 if unknown
	Total int     `json:"total"`
}
