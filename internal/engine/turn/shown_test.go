package turn_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// TestSilentAnswerIsNotShown keeps an answer back as long as it may be for nobody.
func TestSilentAnswerIsNotShown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		parts, shown []string
	}{
		{[]string{"NO", "_REP", "LY"}, nil},
		{[]string{"NO", "_REP", "LY, I said"}, []string{"NO_REPLY, I said"}},
		{[]string{"N", "ine", " lives"}, []string{"Nine", " lives"}},
		{[]string{"N"}, []string{"N"}},
	} {
		t.Run(strings.Join(tt.parts, "|"), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(_ context.Context, yield func(chela.Chunk, error) bool) {
				for _, part := range tt.parts {
					if !yield(chela.Chunk{Text: part}, nil) {
						return
					}
				}
				yield(chela.Chunk{Finish: &chela.Finish{Text: strings.Join(tt.parts, ""), Stop: chela.StopEnd}}, nil)
			})
			r.mustRun(chela.TurnCompleted)
			var shown []string
			for _, e := range r.events {
				if e.Kind == chela.EventTextDelta {
					shown = append(shown, e.Text)
				}
			}
			if diff := cmp.Diff(tt.shown, shown); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}
