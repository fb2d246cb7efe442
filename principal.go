package chela

import "cmp"

// A Principal is the identity on whose behalf a turn acts. It bounds the turn's
// rights before any rule of the policy applies. A job, a subagent and a run of
// a routine act for the principal of the turn that created them.
type Principal string

// The principals, from the most to the least trusted. An unknown value counts
// as a guest.
const (
	PrincipalOwner Principal = "owner" // the person who owns this home
	PrincipalGroup Principal = "group" // several people, possibly with the owner
	PrincipalGuest Principal = "guest" // everyone else
)

// known returns p, or a guest if p is not a known principal.
func (p Principal) known() Principal {
	if p == PrincipalOwner || p == PrincipalGroup {
		return p
	}
	return PrincipalGuest
}

// Principal returns the principal of a message with this origin in a session.
// It is the only place that decides this; an unclear case is a guest.
//
// In a group session the principal is the group, independent of the sender. A
// direct chat on a channel belongs to its peer, so a message that reaches it
// from another channel acts as a guest. Elsewhere For decides if set, else the
// sender.
func (o Origin) Principal(session SessionKey) Principal {
	key, err := ParseSessionKey(session)
	switch {
	case err != nil:
		return PrincipalGuest
	case key.IsGroup() && o.For.orOwner() == PrincipalGuest:
		return PrincipalGuest
	case key.IsGroup():
		return PrincipalGroup
	case key.Kind == KeyDirect && key.Channel != "" && key.Channel != o.Channel:
		return PrincipalGuest
	case o.For != "":
		return o.For.known()
	case o.Owner:
		return PrincipalOwner
	default:
		return PrincipalGuest
	}
}

// orOwner returns the owner if p is not set, else p.
func (p Principal) orOwner() Principal { return cmp.Or(p, PrincipalOwner).known() }

// Principal returns the principal of the turn.
func (t *Turn) Principal() Principal { return t.Origin.Principal(t.Session) }

// Principal returns the principal of the job.
func (j *Job) Principal() Principal { return j.Origin.Principal(cmp.Or(j.Requester, j.Session)) }

// Principal returns the principal of the routine. A routine created outside of
// any session, by a command or in the configuration, has the rights of its
// creator.
func (r *Routine) Principal() Principal {
	return r.Origin.Principal(cmp.Or(r.Session, MainKey(r.Agent)))
}
