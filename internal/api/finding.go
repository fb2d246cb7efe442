package api

// A Finding is the result of one check of doctor.
type Finding struct {
	Subject string `json:"subject"` // such as "database"
	OK      bool   `json:"ok"`
	Text    string `json:"text"`           // the observation
	Cure    string `json:"cure,omitempty"` // the hint, if it is not OK
}
