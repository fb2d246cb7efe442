package machine

import (
	"slices"

	"chela"
)

// Offered reports whether name is a client-side tool.
func (s *State) Offered(name string) bool {
	return slices.ContainsFunc(s.Offers, func(o chela.ToolSpec) bool { return o.Name == name })
}

// HandedOut returns the client-side calls without a result.
func (s State) HandedOut() []chela.ToolCall {
	return slices.DeleteFunc(s.Open(), func(c chela.ToolCall) bool {
		return c.State != chela.CallRunning || c.Resume != chela.ResumeWait
	})
}

// Waits reports whether the turn waits for client-side tool results.
func (s State) Waits() bool { return s.Turn.State == chela.TurnAwaiting && len(s.HandedOut()) > 0 }

// WaitingCall returns a handed-out call without a result. It is Invalid if the
// call is unknown, and a Conflict if it does not wait.
func (s *State) WaitingCall(id chela.CallID) (chela.ToolCall, error) {
	i := s.find(id)
	if i < 0 {
		return chela.ToolCall{}, chela.Ef(chela.Invalid, "there is no call %.60q that waits for a result", id).
			WithHint("use the call ids of the last response")
	}
	c := s.Calls[i]
	if c.Answered || c.State != chela.CallRunning || c.Resume != chela.ResumeWait {
		return chela.ToolCall{}, chela.Ef(chela.Conflict, "call %s does not wait for a result; it is %s", id, c.State)
	}
	return c.ToolCall, nil
}
