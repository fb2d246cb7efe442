package chela

import "strings"

// Input says how the text of a message was entered, and hence which commands
// and directives it may contain. The zero value allows none: a surface must
// state the input of a message before it can give commands.
type Input string

// The inputs, least trusted first.
const (
	InputText    Input = ""        // content: piped in, sent by a program, read from a file or the network; passed to the agent unchanged
	InputCommand Input = "command" // an argument of a command line or a line of a script: commands and directives, except those that lift approvals
	InputTyped   Input = "typed"   // typed by a person in an interactive surface: every command and directive
)

// Check returns an Invalid error if i is not an input.
func (i Input) Check() error {
	if i == InputText || i == InputCommand || i == InputTyped {
		return nil
	}
	return Ef(Invalid, "%.40q is not an input", i).WithHint("use command or typed, or leave it out for plain text")
}

// TakesOrders reports whether the text may be a command or begin with
// directives. Any other text is passed to the agent unchanged.
func (in Inbound) TakesOrders() bool { return in.Input == InputCommand || in.Input == InputTyped }

// GivesOrders reports whether the text may begin with a command or a directive, and
// does begin like one: any other text needs no interpreter.
func (in Inbound) GivesOrders() bool {
	return in.TakesOrders() && strings.HasPrefix(strings.TrimSpace(in.Text), "/")
}

// MayApprove reports whether the sender may answer approvals.
func (in Inbound) MayApprove() bool { return in.Origin.Owner && in.Scope.Allows(ScopeChat) }

// MayElevate reports whether a directive in the text may lift approvals: typed
// by the owner, with admin scope, in a session not shared with a group.
func (in Inbound) MayElevate() bool {
	key, err := ParseSessionKey(in.Session)
	return err == nil && !key.IsGroup() && in.Input == InputTyped && in.Origin.Owner && in.Scope.Allows(ScopeAdmin)
}
