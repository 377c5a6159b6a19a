package plan

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// TestProfile: a profile of many blocks equals a list of seconds.
func TestProfile(t *testing.T) {
	const horizon = 400
	random := rand.New(rand.NewPCG(7, 1))
	room := func(most int) scheduler.Room {
		return scheduler.Room{Cores: int32(random.IntN(most)), GPUs: int32(random.IntN(most)), Memory: int64(random.IntN(most))}
	}
	p := newProfile(0, scheduler.Room{Cores: 20, GPUs: 20, Memory: 20})
	seconds := make([]scheduler.Room, horizon) // the last one also holds for all later ones
	for i := range seconds {
		seconds[i] = p.now()
	}
	at := func(s int) scheduler.Room { return seconds[min(s, horizon-1)] }
	now, blocks := 0, 0
	for range 3000 {
		if random.IntN(200) == 0 && now < horizon/4 {
			now++
			p.advance(time.Duration(now))
		}
		from := now + random.IntN(horizon-now-1)
		to, until := from+1+random.IntN(20), scheduler.Never
		by := room(5)
		if random.IntN(2) == 0 {
			by = scheduler.Room{Cores: -by.Cores, GPUs: -by.GPUs, Memory: -by.Memory}
		}
		if to < horizon {
			until = time.Duration(to)
		}
		p.change(time.Duration(from), until, by)
		for s := from; s < min(to, horizon); s++ {
			seconds[s].Add(by)
		}
		blocks = max(blocks, len(p.blocks))
		from = now + random.IntN(horizon-now-1)
		in := stretch{time.Duration(from), time.Duration(from + 1 + random.IntN(120))}
		least, most := at(from), max(at(from).Cores, 0)
		for s := from; s < int(in.to); s++ {
			least, most = leastOf(least, at(s)), max(most, at(s).Cores)
		}
		if got := p.lowest(in.from, in.to); got != least {
			t.Fatalf("in %v at least %v is free, want %v", in, got, least)
		}
		if got := p.mostCores(in); got != most {
			t.Fatalf("in %v at most %d cores are free, want %d", in, got, most)
		}
		cores := int32(random.IntN(30))
		around := stretch{in.from, scheduler.Never}
		for around.from > time.Duration(now) && at(int(around.from)-1).Cores >= cores {
			around.from--
		}
		for s := int(in.to); s < 2*horizon; s++ {
			if at(s).Cores < cores {
				around.to = time.Duration(s)
				break
			}
		}
		if got := p.reach(in, cores); got != around {
			t.Fatalf("%d cores are free around %v in %v, want %v", cores, in, got, around)
		}
		need, length, own := room(25), 1+random.IntN(60), stretch{in.to, in.to + time.Duration(random.IntN(70))}
		if int(in.to) >= horizon-1 || int(own.to) >= horizon-1 {
			own = stretch{}
		} else {
			p.split(own.from)
			p.split(own.to)
		}
		start := scheduler.Never
		for s := now; s < int(in.to) && start == scheduler.Never; s++ {
			start = time.Duration(s)
			for k := s; k < s+length; k++ {
				if !at(k).Holds(need) && !(own.from <= time.Duration(k) && time.Duration(k) < own.to && at(k).Holds(scheduler.Room{})) {
					start = scheduler.Never
				}
			}
		}
		if got := p.first(need, time.Duration(length), stretch{time.Duration(now), in.to}, own); got != start {
			t.Fatalf("%v has room for %d within %v beside %v at %v, want %v", need, length, in, own, got, start)
		}
	}
	if blocks < 4 {
		t.Errorf("at most %d blocks were there: too few to try anything", blocks)
	}
}
