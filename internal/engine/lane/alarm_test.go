package lane_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/lane"
)

func TestAlarms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		rang := map[chela.SessionKey]time.Duration{}
		a := lane.NewAlarms(func(key chela.SessionKey) { rang[key] = time.Since(begun) })
		wait := func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		}
		a.Set("a", time.Second)
		a.Set("a", time.Minute) // instead
		a.Set("b", 2*time.Second)
		a.Set("late", time.Hour)
		wait(2 * time.Second)
		if a.IsSet("b") || !a.IsSet("a") {
			t.Errorf("set are a: %v, b: %v", a.IsSet("a"), a.IsSet("b"))
		}
		wait(time.Minute)
		a.Stop()
		a.Set("later", time.Second)
		wait(2 * time.Hour)
		want := map[chela.SessionKey]time.Duration{"a": time.Minute, "b": 2 * time.Second}
		if diff := cmp.Diff(want, rang); diff != "" {
			t.Errorf("alarms that rang (-want +got):\n%s", diff)
		}
	})
}
