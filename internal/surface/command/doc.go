// Package command defines, parses and executes the commands in messages to the
// agent: grammar.go explains their syntax, table.go lists them.
//
// Commands are control messages: they wait for no turn. The reply is stored
// with the message in the transaction of the command's changes, so a repeated
// delivery changes nothing and gets the same reply. Calls to other parts of the
// system (a stop, an answer to a question) are made before the transaction, and
// are idempotent. A few commands become a message: /summarize and /suggest ask
// the agent, /compact is a turn of its own.
//
// # Authorization
//
// Everyone who may send messages may ask for help, state and identity. All
// other commands are reserved to the owner, including directives.
package command
