//go:build failpoint

package work_test

import (
	"testing"
)

// TestFailpoints breaks each transaction of an engine and of its handlers at every
// place, by an error and by a kill. Whoever comes next finishes what is left, and
// nothing happens twice.
func TestFailpoints(t *testing.T) {
	t.Parallel()
	for name, place := range places {
		for _, transaction := range []string{"work.claim", "work.end", "test.keyed", "test.written"} {
			for _, moment := range []string{".begin", ".commit", ".done"} {
				for _, action := range []string{"@1=kill", "@3=kill", "@2=error"} {
					t.Run(name+"/"+transaction+moment+action, func(t *testing.T) {
						t.Parallel()
						cfg := place(t)
						s := setOut(t, cfg)
						err := begin(t, cfg, "CHELA_FAILPOINTS="+transaction+moment+action).Wait()
						if killed := action[3:] == "kill"; killed != (err != nil) {
							t.Errorf("the child ended with %v", err)
						}
						if err := finish(t.Context(), s, "node_next"); err != nil {
							t.Fatal(err)
						}
						wantDone(t, s)
					})
				}
			}
		}
	}
}
