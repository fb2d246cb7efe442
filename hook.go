package chela

// A HookPoint is a place where hooks see what passes, and may change or refuse
// it.
type HookPoint string

// The points of hooks. What is refused at the last two goes on all the same:
// they are told, not asked.
const (
	HookBeforeInbound  HookPoint = "before_inbound"     // a message, before it is accepted
	HookBeforeToolCall HookPoint = "before_tool_call"   // the arguments of a call, before the policy
	HookAfterToolCall  HookPoint = "after_tool_call"    // the text of a result, before it is recorded
	HookTransform      HookPoint = "transform_response" // the model's answer, before it is recorded
	HookBeforeOutbound HookPoint = "before_outbound"    // a reply that must be pushed, before it is owed
	HookSessionStart   HookPoint = "session_start"      // a thread has begun
	HookSessionEnd     HookPoint = "session_end"        // a thread was left: its session was reset or archived
)
