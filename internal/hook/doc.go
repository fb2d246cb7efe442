// Package hook lets an operator see, change and refuse what passes through
// chela, without changing chela.
//
//	message ──before_inbound──▶ inbox ──▶ turn
//	                                       │ model
//	          policy ◀──before_tool_call── calls
//	            │
//	           tool ──after_tool_call──▶ result
//	                                       │ model
//	journal ◀──transform_response────── answer
//	   └──before_outbound──▶ outbox
//
// and session_start and session_end beside it.
//
// # A firing
//
// The hooks of a point are asked in the order of the configuration. Each gets a
// [Moment], a few plain fields as JSON without secrets and without paths of the
// machine, and lets it go on, changes it for those that follow, or refuses it,
// which ends the firing. What is changed: the arguments at before_tool_call, the
// text elsewhere.
//
//	rule      a regular expression; what matches is replaced or refused. Pure
//	command   a program without a shell: the moment on its input, the answer on
//	          its output, an environment of its own, killed with all it began
//	webhook   a POST with the moment as body; the answer is the response. The
//	          address is the operator's, so any may be named; redirects are not
//	          followed
//
// An answer is {"action": "continue" | "modify" | "reject"} with "text" or
// "args" to modify, and "reason" to reject. Nothing at all means continue.
//
// # When a hook fails
//
// Too late, an exit code, a status other than 2xx, no JSON, too much of it, or
// a change that cannot be used: the hook has failed. With on_error "closed",
// the default, that counts as a refusal, with "open" as if it were not there.
// Both are logged.
//
// # How often
//
// At least once: what a hook decided is part of the commit that it was asked
// for, so a process that dies before asks again. Every change, refusal and
// failure is logged, and told by an event.
//
// The session points are only told. They are queued and told in order by
// [Hooks.Run]; a queue that is full loses the newest, which is logged.
package hook
