// Package process holds what a process asks of its system, each in the way of
// the system that it runs on.
package process
