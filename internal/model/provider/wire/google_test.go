package wire_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// The same words come for the limit of a minute and for that of a day.
const quotaWords = "You exceeded your current quota, please check your plan and billing details."

// TestRefusedByGoogle has the details that services of Google tell beside an
// error, as users reported them.
func TestRefusedByGoogle(t *testing.T) {
	t.Parallel()
	quota := func(id string) string {
		return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"` + id + `","quotaValue":"20"}]}`
	}
	retry := func(after string) string {
		return `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + after + `"}`
	}
	reason := func(r string) string {
		return `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + r + `","domain":"googleapis.com"}`
	}
	const help = `{"@type":"type.googleapis.com/google.rpc.Help","links":[{"url":"https://ai.google.dev"}]}`
	const day, minute = "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
	tests := []struct {
		name         string
		status       int
		code, detail string
		want         chela.ProviderError
	}{
		{"minute", 429, "RESOURCE_EXHAUSTED", help + "," + quota(minute) + "," + retry("36.4s"), chela.ProviderError{Kind: chela.Exhausted, Retryable: true, After: 36400 * time.Millisecond}},
		{"day", 429, "RESOURCE_EXHAUSTED", quota(day) + "," + retry("36s"), chela.ProviderError{Kind: chela.Exhausted}},
		{"day and minute", 429, "RESOURCE_EXHAUSTED", quota(day) + "," + quota(minute), chela.ProviderError{Kind: chela.Exhausted}},
		{"delay alone", 429, "RESOURCE_EXHAUSTED", retry("9s"), chela.ProviderError{Kind: chela.Exhausted, Retryable: true, After: 9 * time.Second}},
		{"nothing but the words", 429, "RESOURCE_EXHAUSTED", help, chela.ProviderError{Kind: chela.Exhausted}},
		{"absurd delays", 429, "RESOURCE_EXHAUSTED", quota(minute) + "," + retry("999999h"), chela.ProviderError{Kind: chela.Exhausted, Retryable: true, After: 7 * 24 * time.Hour}},
		{"details of other forms", 429, "RESOURCE_EXHAUSTED", `7,"x",{"reason":7},` + retry("soon"), chela.ProviderError{Kind: chela.Exhausted}},
		{"wrong key", 400, "INVALID_ARGUMENT", reason("API_KEY_INVALID"), chela.ProviderError{Kind: chela.Denied}},
		{"key without the right", 403, "PERMISSION_DENIED", reason("CONSUMER_SUSPENDED"), chela.ProviderError{Kind: chela.Denied}},
		{"country", 400, "FAILED_PRECONDITION", "", chela.ProviderError{Kind: chela.Denied}},
		{"room", 503, "UNAVAILABLE", retry("3s"), chela.ProviderError{Kind: chela.Unavailable, Retryable: true, After: 3 * time.Second}},
		{"argument", 400, "INVALID_ARGUMENT", "", chela.ProviderError{Kind: chela.Invalid}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			msg := "no"
			if tt.code == "RESOURCE_EXHAUSTED" {
				msg = quotaWords
			}
			body := fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[%s]}}`, tt.status, msg, tt.code, tt.detail)
			tt.want.Provider, tt.want.Msg, tt.want.Status, tt.want.Unpaid = "fake", msg, tt.status, true
			got := guard.Refused(tt.status, http.Header{}, []byte(body))
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestToldByGoogle has the same trouble inside a stream, where there is no
// status to go by.
func TestToldByGoogle(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]chela.Kind{
		"UNAUTHENTICATED": chela.Denied, "PERMISSION_DENIED": chela.Denied, "NOT_FOUND": chela.NotFound,
		"RESOURCE_EXHAUSTED": chela.Exhausted, "INVALID_ARGUMENT": chela.Invalid,
		"UNAVAILABLE": chela.Unavailable, "INTERNAL": chela.Unavailable, "DEADLINE_EXCEEDED": chela.Unavailable,
	} {
		body := `{"error":{"code":1,"message":"m","status":"` + code + `","details":[{"retryDelay":"2s"}]}}`
		got, told := guard.Told([]byte(body))
		if !told || got.Kind != want || (got.After == 2*time.Second) != got.Retryable {
			t.Errorf("%s: got %+v, want kind %q", code, got, want)
		}
	}
}
