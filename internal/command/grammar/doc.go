// Package grammar tells what a person orders from what is said to the agent. It is
// the table of commands and how they are written; what they do is that of package
// command.
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
// # Directives
//
// Some commands are settings: /think, /model, /verbose, /reasoning, /elevated and
// /queue. With a text behind them, or on a line of their own between others that
// is not inside a fenced block, they hold for that message and its turn; alone
// they hold for the session, where "default" takes the setting back. The model
// and the journal see the text without them.
package grammar
