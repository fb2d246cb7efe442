package app

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// TestMemoryIsGivenBackAfterWork: neither while the process works nor again and again
// while it does nothing.
func TestMemoryIsGivenBackAfterWork(t *testing.T) {
	const mb = 1 << 20
	m := &memoryMeter{last: memoryReading{allocated: 0, held: 20 * mb}, low: 20 * mb}
	gave := 0
	for i, c := range []struct {
		now  memoryReading
		want int
	}{
		{memoryReading{mb, 21 * mb}, 0},        // idle from the start
		{memoryReading{500 * mb, 100 * mb}, 0}, // at work
		{memoryReading{900 * mb, 100 * mb}, 0},
		{memoryReading{900 * mb, 100 * mb}, 1}, // idle again
	} {
		m.look(c.now, func() { gave++ })
		if gave != c.want {
			t.Errorf("after look %d memory was given back %d times, want %d", i+1, gave, c.want)
		}
	}
	m.look(memoryReading{m.last.allocated, m.low + 4*mb}, func() { gave++ })
	if gave != 1 {
		t.Errorf("memory was given back %d times though there was little", gave)
	}
}

// TestReadMemory: what the process allocates is counted.
func TestReadMemory(t *testing.T) {
	before := readMemory()
	kept := make([]byte, 32<<20)
	for i := range kept {
		kept[i] = 1
	}
	after := readMemory()
	if after.allocated-before.allocated < uint64(len(kept)) || after.held == 0 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// The first collection gives back the usual target.
func TestPostponeCollection(t *testing.T) {
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	usual := percent()
	postponeCollection()
	for range 1000 { // cleanups run some time after a collection
		runtime.GC()
		if percent() == usual {
			return
		}
	}
	t.Errorf("the target is %d %% after collections, want %d %%", percent(), usual)
}
