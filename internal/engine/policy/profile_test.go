package policy_test

import (
	"testing"

	"chela"
	"chela/internal/engine/policy"
)

// TestProfileOfATurn: the most specific profile holds, and conversations of others
// only make a turn more careful.
func TestProfileOfATurn(t *testing.T) {
	t.Parallel()
	const careful, normal, free = chela.ProfileCareful, chela.ProfileNormal, chela.ProfileFree
	for _, tt := range []struct {
		given         policy.Candidates
		owner, others chela.Profile
	}{
		{policy.Candidates{}, normal, normal},
		{policy.Candidates{Home: free}, free, free},
		{policy.Candidates{Agent: careful, Home: free}, careful, careful},
		{policy.Candidates{Session: free, Agent: careful}, free, careful},
		{policy.Candidates{Turn: normal, Session: free, Home: careful}, normal, careful},
		{policy.Candidates{Turn: free, Session: careful, Home: free}, free, careful},
		{policy.Candidates{Turn: careful, Session: free, Home: free}, careful, careful},
	} {
		if got := tt.given.Profile(true); got != tt.owner {
			t.Errorf("%+v: %s for the owner, want %s", tt.given, got, tt.owner)
		}
		if got := tt.given.Profile(false); got != tt.others {
			t.Errorf("%+v: %s for others, want %s", tt.given, got, tt.others)
		}
	}
}
