// Package local describes this process as a node of its home: who it is, its clock, and
// how it announces what it did.
package local

import (
	"log/slog"
	"time"

	"chela"
)

// A Process is this process. Engines embed it in their configurations. All fields but
// Peers are required by engines that run turns or work; others say which they use.
type Process struct {
	Node chela.NodeID
	IDs  *chela.IDs
	Now  func() time.Time  // the clock of the home; see store.Store.Now
	Emit func(chela.Event) // announces what was committed; never blocks
	Log  *slog.Logger

	Peers peers // the other processes; nil if nothing is known about them
}

// peers tell what is certain about other processes.
type peers interface {
	// Dead reports whether a node is known to be dead.
	Dead(n chela.NodeID) bool
	// Alive reports whether a node is known to be alive.
	Alive(n chela.NodeID) bool
}

// Dead reports whether a node is known to be dead.
func (p Process) Dead(n chela.NodeID) bool { return p.Peers != nil && p.Peers.Dead(n) }

// Alive reports whether a node is known to be alive.
func (p Process) Alive(n chela.NodeID) bool { return p.Peers != nil && p.Peers.Alive(n) }
