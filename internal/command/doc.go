// Package command tells what a person orders from what is said to the agent, and
// carries it out.
//
//	text ─▶ Parse ─▶ text alone ─────────────────────▶ a message as it is
//	          │   ─▶ directives and text ────────────▶ a message with what they set
//	          │   ─▶ a command, or directives alone ─▶ done at once, and answered
//	          └───▶ what looks like one and is none ─▶ an error with the nearest name
//
// # Commands
//
// A message whose first character is "/" and whose first word is a name of the
// table is a command. A single word that looks like a name and is none is taken
// for a slip, and so is a longer text whose first word misses a name by one
// letter; neither reaches the model. Everything else is text: paths such as
// /etc/hosts among it. "//" at the beginning sends the text with one slash.
//
// Commands are control: they wait for no turn. The reply is stored with the
// message in the transaction of what the command changes, so the same delivery
// twice changes nothing twice and is answered alike. Where a command asks another
// part of the system (a stop, an answer to a question) that comes first, and
// doing it again does no harm. A few commands become a message: /summarize and
// /suggest ask the agent, /compact is a turn of its own.
//
// # Directives
//
// Some commands are settings: /think, /model, /verbose, /reasoning, /elevated and
// /queue. With a text behind them, or on a line of their own between others that
// is not inside a fenced block, they hold for that message and its turn; alone
// they hold for the session, where "default" takes the setting back. The model
// and the journal see the text without them.
//
// # Who may
//
// Whoever may speak may ask for help, state and identity. All else is the
// owner's, directives too.
package command
