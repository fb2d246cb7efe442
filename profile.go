package chela

// A Profile says which calls need an approval where no rule decides. The table
// is in internal/engine/policy/profile.go.
type Profile string

// The profiles, from the one that asks most to the one that asks least.
const (
	ProfileCareful Profile = "careful" // asks about every write and every command that does more than read
	ProfileNormal  Profile = "normal"  // asks about what leaves the sandbox, the workspace or this turn; the default
	ProfileFree    Profile = "free"    // as normal, without asking about reading from the network and hosts that are listed
)

// Profiles are the profiles in the order of their declaration.
func Profiles() []Profile { return []Profile{ProfileCareful, ProfileNormal, ProfileFree} }
