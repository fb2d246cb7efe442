package responses

import (
	"encoding/json"

	"chela"
)

// A seal is what the server wants to see again beside the text of an answer:
// encrypted reasoning, which goes back to where it stood among what was said
// and called, or the phase of what was said. It is kept as the signature of a
// block of thinking.
type seal struct {
	Host      string `json:"host"` // only the server that made it can read it
	ID        string `json:"id,omitempty"`
	Encrypted string `json:"encrypted,omitempty"`
	Calls     int    `json:"calls,omitempty"` // that came before it
	Said      bool   `json:"said,omitempty"`  // text came before it
	Phase     string `json:"phase,omitempty"`
}

// sign returns the signature that holds s; an empty one if nothing is in it
// that the server wants to see.
func (p *Provider) sign(s seal) string {
	if s.Encrypted == "" && s.Phase == "" {
		return ""
	}
	s.Host = p.server.Host
	raw, err := json.Marshal(s)
	if err != nil { // strings and numbers always have a JSON form
		return ""
	}
	return string(raw)
}

// seals returns the seals of a past answer that are this server's, in their
// order, each with the text of its block.
func (p *Provider) seals(blocks []chela.Thinking) (seals []seal, texts []string) {
	for _, t := range blocks {
		var s seal
		if t.Provider != kind || t.Signature == "" || json.Unmarshal([]byte(t.Signature), &s) != nil || s.Host != p.server.Host {
			continue
		}
		seals = append(seals, s)
		texts = append(texts, t.Text)
	}
	return seals, texts
}
