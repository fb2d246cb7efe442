package chela

// A PromptSize says what the next prompt of a thread takes of its model's
// window, in tokens. The parts are as chela counts them, Total is what the
// provider is expected to count.
type PromptSize struct {
	Model   string `json:"model"`
	Window  int    `json:"window"`
	Reserve int    `json:"reserve"` // kept free for the answer
	Room    int    `json:"room"`    // for the prompt: the window less the reserve

	System    int `json:"system"`
	Tools     int `json:"tools"`
	Summary   int `json:"summary"` // of what left the prompt
	User      int `json:"user"`    // notes of the host included
	Assistant int `json:"assistant"`
	Tool      int `json:"tool"`
	Messages  int `json:"messages"` // their number

	Ratio float64 `json:"ratio,omitempty"` // what the provider counted for each token that chela counted; 0 when not known
	Total int     `json:"total"`
}
