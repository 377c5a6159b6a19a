package queue

import (
	"slices"
	"testing"
)

// A line gives up a search after 32 jobs that do not fit, and reports that it has not checked all jobs.
func TestALineHasPatience(t *testing.T) {
	for _, c := range []struct {
		large, small int32 // number of jobs of two cores, and of jobs of one core behind them
		want         int32
		ok           bool
	}{
		{31, 1, 31, true}, {31, 0, Nobody, true}, {32, 1, Nobody, false}, {32, 0, Nobody, false}, {0, 1, 0, true},
	} {
		var l line
		slots := slotsFor(40)
		for j := range c.large + c.small {
			l.add(Key{Job: j}, Ask{Cores: 1 + min(max(c.large-j, 0), 1)}, slots)
		}
		if job, ok := l.next(Front, Limit{Free: 1, Window: never}); job != c.want || ok != c.ok {
			t.Errorf("%d large and %d small jobs: the next is %d, %v", c.large, c.small, job, ok)
		}
	}
}

// A line counts the jobs before a job at once if no job in the middle has left. Otherwise it counts over at most 32
// places, and then gives up.
func TestALineCountsWhatComesBefore(t *testing.T) {
	var l line
	slots := slotsFor(50)
	for j := range int32(50) {
		l.add(Key{Job: j}, Ask{Cores: 1}, slots)
	}
	if n, ok := l.before(Key{Job: 45}); n != 45 || !ok {
		t.Errorf("%d come before the job 45, %v", n, ok)
	}
	for _, gone := range []int32{0, 1, 2, 3, 4, 15} {
		l.remove(slots.of(gone))
	}
	for at, want := range map[int32]int{10: 5, 15: 10, 16: 10, 37: 31} {
		if n, ok := l.before(Key{Job: at}); n != want || !ok {
			t.Errorf("%d come before the job %d, %v; want %d", n, at, ok, want)
		}
	}
	if n, ok := l.before(Key{Job: 38}); ok {
		t.Errorf("%d jobs are counted over 33 places", n)
	}
}

// Places of jobs that have left are reused: the ring is at most four times as long as the line was.
func TestALineUsesPlacesAgain(t *testing.T) {
	for stay, size := range map[int32]int{1: 16, 7: 16, 8: 32, 15: 32, 16: 64} { // by number of jobs that stay
		var l line
		slots := slotsFor(300)
		for j := range int32(300) {
			l.add(Key{Job: j}, Ask{Cores: 1}, slots)
			if j > stay {
				l.remove(slots.of(j - 1))
			}
		}
		var want, got []int32
		for j := range stay {
			want = append(want, j)
		}
		want = append(want, 299)
		l.each(func(p *place) { got = append(got, p.key.Job) })
		if !slices.Equal(got, want) || l.len() != len(want) || len(l.ring) != size {
			t.Errorf("%d of %v are in %d places, want %v in %d", l.len(), got, len(l.ring), want, size)
		}
		for _, j := range want {
			if l.ring[slots.of(j)].key.Job != j {
				t.Errorf("job %d is not where its slot says", j)
			}
		}
	}
}
