// Package terminal is the terminal interface. It has three parts:
//
//   - the conversation of a person with an agent: a message, the turn as it
//     proceeds, its approvals, the answer ([Connection], [Person], [Renderer])
//   - the conventions of all commands: argument counts, suggestions for misspelt
//     commands, output for people and for programs, error messages and exit codes
//     ([Command], [Printer], [ExitCode])
//   - input, and whether there is a person at all ([Input], [IsTTY])
//
// Text of models, tools and other people never reaches a terminal with
// characters that control it or mislead the reader; see [Visible].
package terminal
