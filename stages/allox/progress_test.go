package allox

import (
	"fmt"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// A user's progress uses the larger of the job's fractions of the cluster's cores and GPUs.
func TestProgressUnderAlloX(t *testing.T) {
	set := func(n int) (s scheduler.CoreSet) {
		if n > 0 {
			if err := s.UnmarshalText(fmt.Appendf(nil, "0-%d", n-1)); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	node := scheduler.Node{Threads: 4, GPUs: 2}
	m := newMatcher(policy.Setup{Run: &scheduler.Run{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{node, node}}}}).(*matcher)
	for _, c := range []struct {
		cores, gpus int
		want        time.Duration
	}{{8, 0, 80}, {2, 0, 20}, {2, 1, 20}, {2, 2, 40}, {1, 4, 80}} {
		g := scheduler.Grant{Cores: set(c.cores), GPUs: set(c.gpus)}
		if got := m.progress(80, g); got != c.want {
			t.Errorf("%d of 8 cores and %d of 4 GPUs: %d of 80, want %d", c.cores, c.gpus, got, c.want)
		}
	}
}
