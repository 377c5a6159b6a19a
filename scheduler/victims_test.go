package scheduler

import (
	"slices"
	"testing"

	"github.com/tfexp/tfexp/scheduler/queue"
	"pgregory.net/rapid"
)

// worse returns the jobs of a list with a worse rank than the given one, in the order of the list.
func worse(l *victimList, than int64) (jobs []int32) {
	for i, j, ok := l.Worse(0, than); ok; i, j, ok = l.Worse(i+1, than) {
		jobs = append(jobs, j)
	}
	return jobs
}

func TestVictimsAreInOrder(t *testing.T) {
	l := newVictimList(5, func(job int32) int64 { return int64(job) })
	for _, v := range []victim{{First: 2, Second: 1}, {First: 1, Second: 2, Job: 1}, {First: 1, Second: 1, Job: 2},
		{First: 1, Second: 1, Job: 3}, {First: -1, Second: 9, Job: 4}} {
		l.Offer(v)
	}
	l.Withdraw(1)
	for than, want := range map[int64][]int32{-1: {4, 3, 2, 0}, 0: {4, 3, 2}, 2: {4, 3}, 4: nil} {
		if got := worse(&l, than); !slices.Equal(got, want) {
			t.Errorf("worse than %d are %v, want %v", than, got, want)
		}
	}
}

// A list returns the jobs that rank worse than a given job. They are in the order of their keys or places, the last
// first. Earlier insertions and removals have no influence. Ranks may change when the list has forgotten them.
func TestWorseJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const jobs = 12
		small := rapid.Int64Range(-3, 3)
		ranks := rapid.SliceOfN(small, jobs, jobs).Draw(t, "ranks")
		in := map[int32]victim{}
		rank := func(job int32) int64 { return ranks[job] }
		place := func(job int32) queue.Key { return queue.Key{Rank: ranks[job], Second: int64(job % 3), Job: job} }
		lists := []victimList{newVictimList(jobs, rank), newLastFirstVictims(jobs, place)}
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				j := rapid.Int32Range(0, jobs-1).Draw(t, "job")
				v, runs := in[j]
				if !runs {
					v = victim{First: small.Draw(t, "first"), Second: small.Draw(t, "second"), Job: j}
				}
				for i := range lists {
					if runs {
						lists[i].Withdraw(j)
					} else {
						lists[i].Offer(v)
					}
				}
				if delete(in, j); !runs {
					in[j] = v
				}
			},
			"forget": func(t *rapid.T) {
				ranks[rapid.IntRange(0, jobs-1).Draw(t, "job")] = small.Draw(t, "rank")
				for i := range lists {
					lists[i].Forget()
				}
			},
			"": func(t *rapid.T) {
				than := small.Draw(t, "than")
				var want []victim
				for j, v := range in {
					if ranks[j] > than {
						want = append(want, v)
					}
				}
				for i, compare := range []func(a, b victim) int{
					func(a, b victim) int {
						return slices.Compare([]int64{a.First, a.Second, -int64(a.Job)}, []int64{b.First, b.Second, -int64(b.Job)})
					},
					func(a, b victim) int { return place(b.Job).Compare(place(a.Job)) },
				} {
					slices.SortFunc(want, compare)
					var jobs []int32
					for _, v := range want {
						jobs = append(jobs, v.Job)
					}
					if got := worse(&lists[i], than); !slices.Equal(got, jobs) {
						t.Fatalf("list %d has %v, want %v", i, got, jobs)
					}
				}
			},
		})
	})
}
