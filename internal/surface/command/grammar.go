package command

// This part of the package parses commands in messages to the agent. The table of
// commands is in table.go.
//
//	text ─▶ Parse ─▶ text alone ─────────────────────▶ a message as it is
//	          │   ─▶ directives and text ────────────▶ a message with what they set
//	          │   ─▶ a command, or directives alone ─▶ done at once, and answered
//	          └───▶ what looks like one and is none ─▶ an error with the nearest name
//
// # Commands
//
// A message whose first character is "/" and whose first word is a name of the
// table is a command. A single word in the form of a name that is not in the
// table is a misspelt command, and so is a longer text whose first word differs
// from a name by one letter; neither reaches the model. Everything else is
// text, including paths such as /etc/hosts. "//" at the beginning sends the
// text with one slash.
//
// # Directives
//
// Some commands are settings: /think, /model, /verbose, /reasoning, /elevated
// and /queue. On the first line of a message, before a text, they apply to that
// message and its turn; alone they apply to the session, where "default" resets
// the setting. The model and the journal see the text without them. Further
// down a line that looks like a directive is text.
//
// # Whose text
//
// Commands are parsed only in text that a surface marks as typed, by the Input
// of the message. Standard input, files, requests of programs and webhooks are
// text: they reach the agent unchanged, "//" included.
