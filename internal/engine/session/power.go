package session

import (
	"cmp"
	"slices"

	"chela"
)

// Raises reports whether a change of the elevation level requires fewer
// approvals than before. The empty level is "ask".
func Raises(from, to string) bool {
	rank := func(level string) int { return slices.Index(levels["elevated"], cmp.Or(level, "ask")) }
	return rank(to) > rank(from)
}

// Elevates reports whether a level lifts approvals.
func Elevates(level string) bool { return Raises("ask", level) }

// Permit returns a Denied error if a scope does not permit a change of
// settings. Without the admin scope a caller may not give a session more power:
// lifted approvals, another profile than careful, or another model on the owner's account.
func Permit(from, to chela.Settings, scope chela.Scope) error {
	if scope.Allows(chela.ScopeAdmin) {
		return nil
	}
	needs := func(setting string) error {
		return chela.E(chela.Denied, "to change "+setting+" this way requires the scope admin").WithHint("make another token with chela tokens create")
	}
	switch {
	case Raises(from.Elevated, to.Elevated):
		return needs("elevated")
	case from.Profile != to.Profile && to.Profile != chela.ProfileCareful:
		return needs("the profile")
	case from.Model != to.Model:
		return needs("the model of a session")
	default:
		return nil
	}
}
