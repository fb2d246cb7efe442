// Package self holds the tools with which an agent works on what chela keeps for
// it: jobs, routines, sessions, documents, and messages to people. Access to each
// is injected.
package self
