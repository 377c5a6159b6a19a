package plan

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/scheduler"
)

// TestFrontier finds the instants at which nodes lack what is needed as a look at all steps does.
func TestFrontier(t *testing.T) {
	var old frontier
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.IntRange(0, 4)
		room := func(label string) scheduler.Room {
			return scheduler.Room{
				Cores: int32(few.Draw(t, label+" cores")), GPUs: int32(few.Draw(t, label+" GPUs")), Memory: int64(few.Draw(t,
					label+" memory")),
			}
		}
		nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
		p := &Plan{}
		for i := range rapid.IntRange(1, 8).Draw(t, "steps") {
			s := Step{At: time.Duration(10 * (i + 1))}
			for range nodes {
				s.free = append(s.free, room("free"))
			}
			p.Steps = append(p.Steps, s)
		}
		old = frontierOf(p, old)
		need := room("need")
		need.Cores = max(need.Cores, 1)
		latest := time.Duration(0)
		for v := range nodes {
			want := scheduler.Never
			for i := len(p.Steps) - 1; i >= 0; i-- {
				if !p.Steps[i].free[v].Holds(need) {
					want = p.Steps[i].At
				}
			}
			if want == p.Steps[0].At {
				want = 0
			}
			if got := old[v].until(need); got != want {
				t.Fatalf("node %d lacks it at %d, want %d", v, got, want)
			}
			latest = max(latest, want)
		}
		now := p.Steps[0].At
		within, last := old.limit(now)
		if latest > last || latest == scheduler.Never && need.Cores > within.Spare || latest > 0 &&
			need.Cores > within.Free ||
			last < scheduler.Never && within.Window != last-now {
			t.Fatalf("the limit %+v until %d leaves out what has room until %d", within, last, latest)
		}
	})
}
