package drive

import (
	"context"
	"time"

	"chela/bench/load/measure"
)

// An Overhead compares turns through a server with the same turns asked from
// the model behind it.
type Overhead struct {
	Through measure.Quantiles `json:"through"`
	Direct  measure.Quantiles `json:"direct"`
	Added   float64           `json:"added_ms"` // by the median turn
	Ratio   float64           `json:"ratio"`    // of the medians
	CPU     float64           `json:"cpu_ms_per_turn"`
}

// Compare has turns of one session after each other, in turns through the
// server of l and straight from direct, so that both meet the same machine. Of
// l it takes what is about sessions, turns, warm-up and the process. It is an
// Unavailable error when a turn is not answered rightly.
func Compare(ctx context.Context, l Load, direct Target) (*Overhead, error) {
	l.Sessions = 1
	straight := l
	straight.Target = direct
	client := newClient(1)
	defer client.CloseIdleConnections()
	both := [2]*driver{l.drivers(client)[0], straight.drivers(client)[0]}
	warm := int(float64(l.Turns) * l.Warmup)
	var took [2][]time.Duration
	var before look
	for n := range warm + l.Turns {
		var err error
		if n == warm {
			if before, err = l.look(); err != nil {
				return nil, err
			}
		}
		for i, d := range both {
			begun := l.Now()
			if err := d.probe(ctx); err != nil {
				return nil, err
			}
			if n >= warm {
				took[i] = append(took[i], l.Now().Sub(begun))
			}
		}
	}
	after, err := l.look()
	if err != nil {
		return nil, err
	}
	o := &Overhead{Through: measure.QuantilesOf(took[0]), Direct: measure.QuantilesOf(took[1])}
	o.Added, o.Ratio = o.Through.P50-o.Direct.P50, o.Through.P50/o.Direct.P50
	o.CPU = measure.Milliseconds(after.process.CPU-before.process.CPU) / float64(l.Turns)
	return o, nil
}
