package planned

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// TestProfile compares a profile, while bookings are added, moved and removed, with a list of seconds.
func TestProfile(t *testing.T) {
	const horizon = 300
	random := rand.New(rand.NewPCG(7, 1))
	p := newNodeProfile(0, cluster.Room{Cores: 20, GPUs: 20, Memory: 20})
	at := func(s int, bookings []*booking) amounts {
		free := amounts{20, 20, 20}
		for _, k := range bookings {
			if k.at <= time.Duration(s) && time.Duration(s) < k.end {
				free.add(k.need.negative())
			}
		}
		return free
	}
	var bookings []*booking
	now, longest := 0, 0
	for range 2000 {
		if random.IntN(20) == 0 && now < horizon/2 {
			now++
			p.advance(time.Duration(now))
		}
		if len(bookings) > 40 || len(bookings) > 0 && random.IntN(3) == 0 {
			i := random.IntN(len(bookings))
			k := bookings[i]
			k.unlink()
			add(p.live(k.spans[0].from), p.live(k.spans[0].to), k.need)
			p.unpin(k.spans[0].from)
			p.unpin(k.spans[0].to)
			bookings = slices.Delete(bookings, i, i+1)
		} else {
			from := now + random.IntN(horizon-now)
			k := &booking{
				at: time.Duration(from), end: time.Duration(from + 1 + random.IntN(30)),
				need: amounts{int32(random.IntN(5)), int32(random.IntN(5)), int64(random.IntN(5))},
			}
			if random.IntN(9) == 0 {
				k.end = scheduler.Never
			}
			s := p.step(k.at, p.head)
			k.span(0, s, p.step(k.end, s))
			k.link()
			add(s, k.spans[0].to, k.need.negative())
			bookings = append(bookings, k)
		}
		steps, begin := 0, 0
		for s := p.head; s != nil; s = s.next {
			steps++
			for k := s.first; k != nil; k = k.after {
				if begin++; k.at > s.at || s != p.head && k.at != s.at {
					t.Fatalf("a reservation for %d is at the step of %d", k.at, s.at)
				}
			}
			if s.next != nil && s.next.at <= s.at || s.next != nil && s.next.prev != s {
				t.Fatalf("step %d is followed by %d", s.at, s.next.at)
			}
		}
		if longest = max(longest, steps); steps > 2*len(bookings)+1 || begin != len(bookings) {
			t.Fatalf("%d steps and %d starts for %d bookings", steps, begin, len(bookings))
		}
		for s := now; s < horizon+40; s++ {
			if got := p.head.seek(time.Duration(s)).free; got != at(s, bookings) {
				t.Fatalf("%v is free at %d, want %v", got, s, at(s, bookings))
			}
		}
		from := now + random.IntN(horizon-now)
		to := from + 1 + random.IntN(60)
		low := at(from, bookings)
		for s := from; s < to; s++ {
			a := at(s, bookings)
			low = amounts{min(low.cores, a.cores), min(low.gpus, a.gpus), min(low.memory, a.memory)}
		}
		if got := p.lowest(p.head.seek(time.Duration(from)), time.Duration(to)); amountsOf(got) != low {
			t.Fatalf("from %d to %d at least %v is free, want %v", from, to, got, low)
		}
		// Find the first room for an existing booking, which may use its own room, and for a new one.
		k, before := &booking{length: time.Duration(1 + random.IntN(30))}, horizon
		k.need.cores = int32(random.IntN(20))
		others := bookings
		if len(bookings) > 0 && random.IntN(2) == 0 {
			i := random.IntN(len(bookings))
			if b := bookings[i]; b.end != scheduler.Never && b.at > time.Duration(now) {
				k, before = b, int(b.at)
				k.length = k.end - k.at
				others = slices.Delete(slices.Clone(bookings), i, i+1)
			}
		}
		want, got := -1, -1
		for s := now; s < before && want < 0; s++ {
			want = s
			for u := s; u < s+int(k.length); u++ {
				if free := at(u, others); !k.need.in(&free) {
					want = -1
					break
				}
			}
		}
		over := false // this test excludes plans that promise too much
		for s := now; s < horizon+40; s++ {
			free := at(s, bookings)
			over = over || !(amounts{}).in(&free)
		}
		if s := p.first(k, 0, p.head, time.Duration(before)); s != nil {
			got = int(s.at)
		}
		if got != want && !over {
			t.Fatalf("at %d: room for %v, length %d, at %d, want %d", now, k.need, k.length, got, want)
		}
	}
	if longest < 40 {
		t.Errorf("at most %d steps were there: too few to try anything", longest)
	}
}
