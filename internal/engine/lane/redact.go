package lane

import (
	"slices"

	"chela"
	"chela/internal/safety/leak"
)

// WithoutSecrets returns a message with a mark in place of each credential, as it may
// be stored, and whether its text had one.
func WithoutSecrets(in chela.Inbound, by *leak.Redactor) (_ chela.Inbound, found bool) {
	text := by.Text(in.Text)
	found, in.Text, in.Intent = text != in.Text, text, by.Text(in.Intent)
	if len(in.History) > 0 {
		in.History = slices.Clone(in.History)
		for i := range in.History {
			in.History[i].Text = by.Text(in.History[i].Text)
		}
	}
	if len(in.Results) > 0 {
		in.Results = slices.Clone(in.Results)
		for i := range in.Results {
			in.Results[i].Text = by.Text(in.Results[i].Text)
		}
	}
	return in, found
}
