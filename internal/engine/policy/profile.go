package policy

import (
	"cmp"
	"slices"
	"strings"

	"chela"
)

// Candidates are the profiles that may apply to a turn, from the most to the
// least specific. An empty one is not set.
type Candidates struct {
	Turn    chela.Profile // of its message
	Session chela.Profile
	Agent   chela.Profile
	Home    chela.Profile
}

// Profile returns the profile of a turn. A turn that does not act for the owner is not
// freed by a message or a session, only made more careful.
func (c Candidates) Profile(owner bool) chela.Profile {
	for _, p := range []chela.Profile{c.Turn, c.Session} {
		if p != "" && (owner || p == chela.ProfileCareful) {
			return p
		}
	}
	return cmp.Or(c.Agent, c.Home, chela.ProfileNormal)
}

// A class is a row of the table of profiles.
type class int

// The classes of calls, by what bounds them.
const (
	classOther   class = iota // nothing bounds it: unconfined programs, sends, spending
	classKept                 // changes files or texts that are obeyed later, or deletes
	classRead                 // reads, or changes chela's own records
	classWrite                // writes files of the workspace
	classReading              // programs that only read, in the sandbox
	classBounded              // programs in the sandbox, without network and secrets
	classListed               // programs in the sandbox that reach only hosts which the owner has listed
	classFetch                // reads from the network and sends nothing but the address
)

// profiles is the table of profiles: the classes that need no approval.
//
//	class of the call                                  careful  normal  free
//	reads; changes records of chela                    yes      yes     yes
//	programs that only read, in the sandbox            yes      yes     yes
//	writes files of the workspace                      ask      yes     yes
//	programs in the sandbox, no network, no secrets    ask      yes     yes
//	programs that reach only hosts in the settings     ask      ask     yes
//	fetches, with nothing private in the prompt        ask      ask     yes
//	writes files that programs or agents obey          ask      ask     ask
//	changes instructions, deletes                      ask      ask     ask
//	sends, spends, programs without a sandbox          ask      ask     ask
//	anything with a risk, such as publishing           ask      ask     ask
//
// Rules come before it, and labels (Table), risks and hosts that are not listed ask
// whatever it says. The empty profile is the default of the effects: normal, with
// a question for each program that does more than read.
var profiles = map[chela.Profile][]class{
	"":                   {classRead, classReading, classWrite},
	chela.ProfileCareful: {classRead, classReading},
	chela.ProfileNormal:  {classRead, classReading, classWrite, classBounded},
	chela.ProfileFree:    {classRead, classReading, classWrite, classBounded, classListed, classFetch},
}

// class returns the class of a call.
func (q Question) class() class {
	switch j := q.Judgement; {
	case j.Act == chela.ActInstruct || j.Act == chela.ActDelete:
		return classKept
	case j.Effect == chela.EffectExecute && j.ReadOnly:
		return classReading
	case j.Effect == chela.EffectExecute && j.Bounded && !j.Opaque() && len(j.Secrets) == 0:
		if j.Carries {
			return classListed
		}
		return classBounded
	case j.Effect == chela.EffectNetwork && !j.Carries && cmp.Or(j.Act, chela.ActFetch) == chela.ActFetch && !q.Provenance.IsPrivate():
		return classFetch
	case j.Effect == chela.EffectWrite && slices.ContainsFunc(j.Subjects, func(s string) bool { return strings.HasPrefix(s, "/") }):
		return classWrite
	case stays(j.Effect):
		return classRead
	default:
		return classOther
	}
}

// allowedBecause are the reasons why calls of a class need no approval.
var allowedBecause = map[class]string{
	classRead:    "stays in the workspace",
	classWrite:   "stays in the workspace",
	classReading: "only reads, in the sandbox",
	classBounded: "runs in the sandbox, which bounds it",
	classListed:  "reaches only hosts that the settings list",
	classFetch:   "only reads from another machine",
}

// byDefault decides where no rule does: by the profile and the class of the call.
func (q Question) byDefault() Decision {
	c := q.class()
	if slices.Contains(profiles[q.Profile], c) {
		return Decision{Verdict: chela.Allow, Reason: allowedBecause[c], Bounded: c == classBounded || c == classListed}
	}
	reason := cmp.Or(reasons[q.Judgement.Effect], "has an unknown effect")
	switch c {
	case classKept:
		reason = actReasons[q.Judgement.Act]
	case classWrite:
		reason = "writes a file"
	case classOther:
		if j := q.Judgement; j.Effect == chela.EffectExecute && !j.Carries && !j.Bounded && !j.Opaque() {
			reason = "runs a program that may reach other machines or files outside of the workspace"
		}
	}
	return Decision{Verdict: chela.Ask, Reason: reason}
}
