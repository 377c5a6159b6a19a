package jobtable

import (
	"testing"

	"pgregory.net/rapid"
)

// A table behaves as an array of values. The values of ended jobs may be lost.
func TestTableIsAnArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.IntRange(1, 3*size+5).Draw(t, "jobs")
		table := New(jobs, func(job int32, v *int) { *v = 10 * int(job) }, -1)
		want, over := map[int32]int{}, map[int32]bool{}
		someone := rapid.Int32Range(0, int32(jobs-1))
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				if j := someone.Draw(t, "job"); !over[j] {
					want[j] = rapid.Int().Draw(t, "value")
					*table.At(j) = want[j]
				}
			},
			"fetch": func(t *rapid.T) { // this changes no values
				table.Fetch([]int32{someone.Draw(t, "one"), someone.Draw(t, "another")})
			},
			"end": func(t *rapid.T) {
				lo := someone.Draw(t, "job")
				for j := lo; j < min(lo+size, int32(jobs)); j++ { // end many jobs, so that whole pages become free
					if !over[j] {
						table.At(j)
						table.Over(j)
						over[j] = true
					}
				}
			},
			"": func(t *rapid.T) {
				seen := map[int32]bool{}
				for j, v := range table.All() {
					seen[j] = true
					if w, ok := want[j]; ok && *v != w || !ok && *v != 10*int(j) {
						t.Fatalf("job %d has %d", j, *v)
					}
				}
				for j := range want {
					if !over[j] && !seen[j] {
						t.Fatalf("job %d is open, and not in memory", j)
					}
				}
				j := someone.Draw(t, "job")
				w, set := want[j]
				if !set {
					w = 10 * int(j)
				}
				if got := *table.At(j); got != w && !(over[j] && got == -1) {
					t.Fatalf("job %d has %d, want %d", j, got, w)
				}
			},
		})
	})
}

// Pages of ended jobs are reused for other jobs.
func TestPagesAreUsedAgain(t *testing.T) {
	const jobs = 100 * size
	table := New(jobs, func(_ int32, v *[16]int) { *v = [16]int{} }, [16]int{})
	j := int32(0)
	if n := testing.AllocsPerRun(jobs-1, func() {
		table.At(j)[0]++
		table.Over(j)
		j++
	}); n > 0 || len(table.spare) != 1 {
		t.Errorf("%g allocations a job, and %d pages in vain, of jobs of which one at a time is open", n, len(table.spare))
	}
}
