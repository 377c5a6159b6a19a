// This file has the placement that ranks pairs of a job and an alternative.

package policy

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Pairs ranks each waiting job with each of its alternatives by the policy's order. It starts the first pair that
// has room, then the next.
const Pairs Placement = "pairs"

var _ = RegisterPlacement(PlacementChoice{
	Choice: Choice{
		Name: Pairs, Title: "Pairs", Place: 3, Version: 2, Weighs: true,
		Doc: "all pairs of a job and an alternative are ranked, and the first pair with room starts; " +
			"under `sjf` and `srtf` it is the pair with the shortest predicted time. A paused job can " +
			"continue with another alternative",
		Wants: []Want{
			{Of: BackfillOf, Name: FirstFit, Implied: true,
				Detail: "The placement \"pairs\" starts whatever pair has room, which implies backfill = \"first_fit\"."},
			{Of: AllocationOf, Name: Strict,
				Detail: "The placement \"pairs\" needs the allocation \"strict\"."},
		},
	},
	Measure:   func(start, _ time.Duration) time.Duration { return start },
	Admission: newPairDesk,
	Replan:    replanByPairs,
})

// packedPair is a waiting job with one of its alternatives.
type packedPair struct {
	rank        int64
	place       int // index of the job in the queue
	job         int32
	alternative int32
}

// pairDesk starts jobs in the order of pairs of a job and an alternative.
type pairDesk struct {
	Setup
	order scheduler.Ranker
	pairs []packedPair
	final bool // no pause or change of rank in a dispatch can make room for a job, so jobs without room are not listed
}

func newPairDesk(s Setup, order scheduler.Ranker) scheduler.Admitter {
	_, drifts := order.(scheduler.UsageObserver)
	return &pairDesk{Setup: s, order: order, final: !s.Pauses && !s.Policy.OrderPauses() && !drifts}
}

// HeldBack implements scheduler.Admitter.
func (d *pairDesk) HeldBack(scheduler.View, int32) string {
	return "another pair of job and alternative is before it"
}

// Admit implements scheduler.Admitter.
func (d *pairDesk) Admit(v scheduler.View, h scheduler.Actions) error {
	machine := v.Machine()
	d.list(v, h)
	for _, p := range d.pairs {
		if d.final && machine.Idle() == 0 {
			return nil // every job needs a core
		}
		j := v.Job(p.job)
		if s := j.State(); s != scheduler.Queued && s != scheduler.Paused && !j.Yields() {
			continue
		}
		now := j.Alternative()
		h.Choose(p.job, p.alternative)
		nodes, ok := j.Fits(j.Request())
		if !ok && d.Pauses {
			var err error
			if _, ok, err = h.MakeRoom(p.job); err != nil {
				return err
			}
			if ok {
				nodes, ok = j.Fits(j.Request())
			}
		}
		if !ok {
			h.Choose(p.job, now)
			continue
		}
		if err := h.Start(p.job, j.Request(), nodes, "the first pair of job and alternative that has room"); err != nil {
			return err
		}
	}
	return nil
}

// list ranks the pairs that may start: by rank, then place of the job, then alternative.
func (d *pairDesk) list(v scheduler.View, h scheduler.Actions) {
	d.pairs = d.pairs[:0]
	within := queue.Anyone
	if d.final {
		within.Free = v.Machine().MostFree()
	}
	waiting, place := v.Waiting(), 0
	for n := waiting.Next(queue.Front, within); n != queue.Nobody; n = waiting.Next(waiting.KeyOf(n), within) {
		j, now := v.Job(n), v.Job(n).Alternative()
		for _, k := range j.ChoicesAnew() {
			h.Choose(n, k)
			d.pairs = append(d.pairs, packedPair{d.order.Rank(j), place, n, k})
		}
		h.Choose(n, now)
		place++
	}
	slices.SortStableFunc(d.pairs, func(a, b packedPair) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.place, b.place))
	})
}
