package execute

import (
	"fmt"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// heard notes what a recorder is told.
type heard []string

func (h *heard) Event(e *scheduler.Event)       { *h = append(*h, fmt.Sprint(e.Kind, e.Job, e.At)) }
func (h *heard) Decision(d *scheduler.Decision) { *h = append(*h, fmt.Sprint("decision", d.Job, d.At)) }

// TestRelayKeepsTheOrder of events and decisions, and loses none, for traces of every length around that of a batch.
func TestRelayKeepsTheOrder(t *testing.T) {
	for _, n := range []int{0, 1, batchSize - 1, batchSize, batchSize + 1, 10*batchSize + 7} {
		var want, got heard
		r := newRelay(&got)
		for i := range n {
			at := time.Duration(i)
			if i%3 == 1 {
				want.Decision(&scheduler.Decision{Job: i, At: at})
				r.Decision(&scheduler.Decision{Job: i, At: at})
				continue
			}
			want.Event(&scheduler.Event{Kind: scheduler.Start, Job: i, At: at})
			r.Event(&scheduler.Event{Kind: scheduler.Start, Job: i, At: at})
		}
		r.close()
		r.close()
		if len(got) != len(want) {
			t.Fatalf("of %d, %d arrived", len(want), len(got))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("of %d, number %d is %q, want %q", n, i, got[i], want[i])
			}
		}
	}
}
