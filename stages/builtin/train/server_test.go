package train

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/jobs/contract"
)

// Workers come, are lost and push twice. Every image of a pass is in exactly
// one applied batch, and the goal is reached exactly.
func TestTicketsAreDoneOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newServer(Config{
			Part: contract.Part{Role: "ps", Cluster: contract.Cluster{"ps": {"x:1"}}}, PerPass: 1437, PerEpoch: 1437, Decay: 1,
		})
		steps := rapid.IntRange(1, 60).Draw(t, "steps")
		from := Start{Rate: 1, Spans: []Span{{0, 1, 0}}, Batch: 100, Goal: Goal{Steps: steps}}
		if a := s.begin(&from, []float64{0, 0}); !a.Ready {
			t.Fatalf("%+v", a)
		}
		type worker struct {
			peer *peer
			has  *Ticket
		}
		var workers []worker
		applied := map[[2]int]int{}
		for range 4000 {
			if s.last {
				break
			}
			if len(workers) == 0 || len(workers) < 5 && rapid.IntRange(0, 9).Draw(t, "join") == 0 {
				workers = append(workers, worker{peer: &peer{}})
			}
			i := rapid.IntRange(0, len(workers)-1).Draw(t, "who")
			w := &workers[i]
			if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
				s.leave(w.peer)
				workers = slices.Delete(workers, i, i+1)
				continue
			}
			q := Request{Op: OpPull}
			if w.has != nil {
				q = Request{Op: OpPush, Ticket: w.has.N, Images: w.has.Hi - w.has.Lo}
			}
			before := s.c.Steps
			a, _ := s.answer(w.peer, q, []float64{0})
			if a.Error != "" {
				t.Fatal(a.Error)
			}
			if s.c.Steps > before {
				applied[[2]int{w.has.Pass, w.has.Lo}]++
			}
			w.has = a.Ticket
		}
		if s.c.Steps != steps || len(applied) != steps {
			t.Fatalf("%d steps, %d batches, want %d", s.c.Steps, len(applied), steps)
		}
		for i := range steps {
			if n := applied[[2]int{i / 15, i % 15 * 100}]; n != 1 {
				t.Errorf("batch %d is applied %d times", i, n)
			}
		}
	})
}
