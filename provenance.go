package chela

// Integrity says who could have written a text.
type Integrity string

// The integrities. Any other value counts as outside.
const (
	IntegrityOwn     Integrity = ""        // the owner, or the agent before it read anything from outside
	IntegrityOutside Integrity = "outside" // anyone: web pages, requests, attachments, guests, groups
)

// A Provenance says who could have written a text, and its source. It is the
// least trusted provenance of all inputs of the text: an answer inherits its
// prompt's, a summary inherits from the entries it replaces, and a document, a
// job and a routine from the turn that wrote them. internal/safety
// derives it.
type Provenance struct {
	Integrity Integrity `json:"integrity,omitempty"`
	Source    string    `json:"source,omitempty"` // the first untrusted input, for people
}

// IsOutside reports whether the text is untrusted.
func (p Provenance) IsOutside() bool { return p.Integrity != IntegrityOwn }

// With returns the provenance of a text made of two texts. Source names the
// first untrusted one.
func (p Provenance) With(q Provenance) Provenance {
	if p.IsOutside() {
		return p
	}
	return q
}

// A Power is an effect of a call beyond its own turn. A call with a power
// requires an approval if its prompt holds untrusted text, even if a grant
// covers it.
type Power string

// The powers.
const (
	PowerStanding Power = "changes scheduled work"         // routines, and prompts of other jobs
	PowerJob      Power = "starts background work"         // applies in jobs, subagents and runs only
	PowerModel    Power = "selects another model or agent" // another model or agent
	PowerDelete   Power = "deletes or empties a document"  // deletes or empties it
)
