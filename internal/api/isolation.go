package api

// An Isolation describes how commands are confined.
type Isolation struct {
	Mode   string `json:"mode"`   // the setting sandbox.mode
	Policy string `json:"policy"` // what commands may write

	// Tier is the sandbox in use: "namespaces", "landlock", "docker" or "off". It is
	// empty if no command can run, and Trouble and Cure then say why.
	Tier    string `json:"tier"`
	Trouble string `json:"trouble,omitempty"`
	Cure    string `json:"cure,omitempty"`

	Mechanisms []string       `json:"mechanisms"`
	Network    string         `json:"network"`
	Limits     []string       `json:"limits"`
	Gaps       []IsolationGap `json:"gaps"` // what the sandbox in use does not confine
}

// An IsolationGap is something that a sandbox does not confine.
type IsolationGap struct {
	Text string `json:"text"`
	Cure string `json:"cure"`
}

// Summary describes the isolation on one line.
func (i Isolation) Summary() string {
	switch i.Tier {
	case "":
		return i.Mode + ": no command can run: " + i.Trouble
	case "off":
		return i.Mode + ", " + i.Policy + ": commands run with all your rights"
	case i.Mode:
		return i.Mode + ", " + i.Policy
	default:
		return i.Mode + ": " + i.Tier + ", " + i.Policy
	}
}
