package wire

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A span is the period of a quota, if known.
type span int

const (
	spanUnknown span = iota
	spanShort        // a minute or so: retrying helps
	spanLong         // a day or more
)

// A detail is an entry of Google's error details: a reason, a retry delay, or a
// quota; see https://cloud.google.com/apis/design/errors#error_details.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
	Violations []struct {
		QuotaID string `json:"quotaId"`
	} `json:"violations"`
}

// addDetails reads the error details; unknown entries are ignored. An exhausted
// daily quota takes precedence over one per minute.
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

// spanOf reads a quota id, such as
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
