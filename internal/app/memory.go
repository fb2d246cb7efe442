package app

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"chela/internal/platform/local"
)

// mib is the unit of settings of memory, in bytes.
const mib = 1 << 20

const (
	memoryLook  = 5 * time.Second
	memoryQuiet = 1 << 20 // bytes allocated between two looks by an idle process, at most
	memoryGrown = 8 << 20 // bytes from which giving back is worth a collection of 10 to 50 ms
)

// keepMemorySmall gives memory back whenever the process has become idle after work,
// until ctx ends. Otherwise a process keeps what its busiest moment needed for many
// minutes.
func keepMemorySmall(ctx context.Context) error {
	m := newMemoryMeter()
	local.Every(ctx, memoryLook, func() { m.look(readMemory(), giveBackMemory) })
	return nil
}

// A memoryReading is what the Go runtime has allocated.
type memoryReading struct {
	allocated uint64 // since the process began
	held      uint64 // from the system, and not given back
}

// A memoryMeter decides when to give memory back.
type memoryMeter struct {
	last memoryReading
	low  uint64 // held after memory was given back
}

func newMemoryMeter() *memoryMeter {
	now := readMemory()
	return &memoryMeter{last: now, low: now.held}
}

// look calls giveBack if little was allocated since the last look and the process holds
// much more than after memory was given back.
func (m *memoryMeter) look(now memoryReading, giveBack func()) {
	quiet := now.allocated-m.last.allocated <= memoryQuiet
	m.last = now
	if !quiet || now.held < m.low+memoryGrown {
		m.low = min(m.low, now.held)
		return
	}
	giveBack()
	m.last = readMemory()
	m.low = m.last.held
}

func readMemory() memoryReading {
	s := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	return memoryReading{allocated: s[0].Value.Uint64(), held: s[1].Value.Uint64() - s[2].Value.Uint64()}
}

// postponed is the target percentage of the garbage collector until its first run,
// which begins at 4 MiB · postponed / 100 (see runtime/debug.SetGCPercent).
const postponed = 400

// postponeCollection postpones the first garbage collection until the heap has 16 MiB:
// a command that answers one question ends about there, and five collections of a
// few MiB took a fifth of its processor time. From the second on the default holds.
// A target that the operator chose by GOGC stays.
func postponeCollection() {
	usual := debug.SetGCPercent(postponed)
	if usual != 100 {
		debug.SetGCPercent(usual)
		return
	}
	runtime.AddCleanup(&struct{ *int }{}, func(percent int) { debug.SetGCPercent(percent) }, usual)
}
