package users

import (
	"slices"
	"testing"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// A user's share is the larger of two: cores and GPUs together at the rate, or memory. Memory counts if all nodes have
// some.
func TestShareOfExchanged(t *testing.T) {
	for _, c := range []struct {
		held, total amounts
		rate, want  float64
	}{
		{amounts{4, 1, 0}, amounts{16, 4, 0}, 8, 12. / 48},
		{amounts{4, 1, 10}, amounts{16, 4, 20}, 8, 0.5},
		{amounts{4, 1, 1}, amounts{16, 4, 20}, 8, 0.25},
		{amounts{0, 2, 0}, amounts{16, 4, 0}, 2, 4. / 24},
		{amounts{}, amounts{16, 0, 0}, 0, 0},
	} {
		d := &exchanged{userShares: &userShares{held: []amounts{c.held}, total: c.total}, rate: c.rate}
		if got := d.share(0); got != c.want {
			t.Errorf("%+v: %g", c, got)
		}
	}
}

// If each user may hold an equal part, only a user with a single, larger job may exceed it.
func TestWithinAnEqualPart(t *testing.T) {
	for _, c := range []struct {
		held, more amounts
		want       bool
	}{
		{amounts{}, amounts{16, 0, 0}, true}, {amounts{4, 0, 0}, amounts{4, 0, 0}, true}, {amounts{4, 0, 0}, amounts{5, 0, 0}, false},
		{amounts{9, 0, 0}, amounts{0, 1, 0}, true}, {amounts{1, 2, 0}, amounts{0, 1, 0}, false}, {amounts{1, 0, 9}, amounts{1, 0, 9}, true},
	} {
		e := &parted{userShares: &userShares{held: []amounts{c.held}, users: 2, total: amounts{16, 4, 0}}}
		if got := e.within(0, c.more); got != c.want {
			t.Errorf("%v beside %v is within a half: %t", c.more, c.held, got)
		}
	}
}

// A job without a user counts as a separate user, and memory counts if all nodes have some.
func TestWhoShares(t *testing.T) {
	for _, c := range []struct {
		memory int64
		total  amounts
	}{{8, amounts{6, 1, 24}}, {0, amounts{6, 1, 0}}} {
		run := scheduler.Run{
			Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 4, Memory: 16}, {Threads: 2, GPUs: 1, Memory: c.memory}}},
			Jobs:    []scheduler.Job{{User: "a"}, {}, {User: "b"}, {}, {User: "a"}},
		}
		p := newSharing(policy.Setup{Run: &run})
		if p.users != 4 || !slices.Equal(p.owner, []int32{0, 1, 2, 3, 0}) || p.total != c.total {
			t.Errorf("%d users, who own %v and share %v; want %v", p.users, p.owner, p.total, c.total)
		}
	}
}
