package validate

import (
	"testing"

	"github.com/tfexp/tfexp/scheduler"
)

// A unit of a divided job is its smallest part with whole cores and GPUs. Each unit needs its share of the memory,
// rounded up.
func TestMemoryOfUnits(t *testing.T) {
	for _, c := range []struct {
		threads, gpus int
		memory        int64
		cores         int // cores on the node
		want          int64
	}{{6, 4, 10, 3, 5}, {6, 4, 11, 3, 6}, {6, 4, 11, 6, 12}, {6, 0, 13, 2, 6}, {4, 4, 8, 1, 2}, {4, 1, 8, 4, 8}, {8, 6, 8, 4, 4}, {9, 6, 9, 3, 3}} {
		v := &Validator{jobs: scheduler.JobSet{List: []scheduler.Job{{Threads: c.threads, GPUs: c.gpus, Memory: c.memory}}}}
		if got := v.memoryOfUnits(0, &traced{grantedTo: &grantedTo{units: []int{c.cores}}}, 0); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
