package wire

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A span is how long a limit counts for, where the provider tells.
type span int

const (
	spanUnknown span = iota
	spanShort        // a minute or so: waiting helps
	spanLong         // a day or more
)

// A detail is what services of Google tell beside an error: a reason, when to
// try again, which quota is used up; see
// https://cloud.google.com/apis/design/errors#error_details.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
	Violations []struct {
		QuotaID string `json:"quotaId"`
	} `json:"violations"`
}

// addDetails adds what the details of an error tell. What is written otherwise
// tells nothing. A limit for the day decides, even if one for the minute is
// used up as well.
func (p *problem) addDetails(raw json.RawMessage) {
	var details []json.RawMessage
	if raw == nil || json.Unmarshal(raw, &details) != nil {
		return
	}
	for _, one := range details {
		var d detail
		if json.Unmarshal(one, &d) != nil {
			continue
		}
		if d.Reason != "" {
			p.labels = append(p.labels, d.Reason)
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			p.after = min(max(wait, 0), maxAfter)
		}
		for _, v := range d.Violations {
			p.span = max(p.span, spanOf(v.QuotaID))
		}
	}
}

// spanOf reads the id of a quota, such as
// GenerateRequestsPerDayPerProjectPerModel-FreeTier.
func spanOf(id string) span {
	long := []string{"PerDay", "PerWeek", "PerMonth"}
	switch {
	case slices.ContainsFunc(long, func(s string) bool { return strings.Contains(id, s) }):
		return spanLong
	case strings.Contains(id, "PerMinute"), strings.Contains(id, "PerSecond"), strings.Contains(id, "PerHour"):
		return spanShort
	default:
		return spanUnknown
	}
}
