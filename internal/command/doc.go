// Package command carries out what a person orders by what is said to the agent.
// What is an order, and how it is written, is that of package grammar.
//
// Commands are control: they wait for no turn. The reply is stored with the
// message in the transaction of what the command changes, so the same delivery
// twice changes nothing twice and is answered alike. Where a command asks another
// part of the system (a stop, an answer to a question) that comes first, and
// doing it again does no harm. A few commands become a message: /summarize and
// /suggest ask the agent, /compact is a turn of its own.
//
// # Who may
//
// Whoever may speak may ask for help, state and identity. All else is the
// owner's, directives too.
package command
