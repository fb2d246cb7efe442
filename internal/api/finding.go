package api

import (
	"strings"

	"chela"
)

// A Finding is the result of one check of doctor.
type Finding struct {
	Subject string `json:"subject"` // such as "database"
	OK      bool   `json:"ok"`
	Text    string `json:"text"`           // the observation
	Cure    string `json:"cure,omitempty"` // the hint, if it is not OK
}

// Well returns a finding without a problem.
func Well(subject, text string) Finding { return Finding{Subject: subject, OK: true, Text: text} }

// Unwell returns the finding of an error, whose hint is the cure.
func Unwell(subject string, err error) Finding {
	cure := chela.HintOf(err)
	return Finding{Subject: subject, Text: strings.TrimSuffix(chela.MessageOf(err), "; "+cure), Cure: cure}
}
