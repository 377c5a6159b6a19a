package batch

import (
	"cmp"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// tree makes an account of users and accounts.
func tree(name string, shares int, raw float64, children ...*association) *association {
	a := &association{Account: Account{Name: name, Shares: shares}, raw: raw, user: len(children) == 0, children: children}
	for _, c := range children {
		c.parent = a
	}
	return a
}

func TestFairTree(t *testing.T) {
	tests := []struct {
		name string
		root *association
		want map[string]float64
	}{
		{"nobody has used anything", tree("root", 1, 0, tree("r", 1, 0), tree("a", 2, 0, tree("x", 1, 0), tree("y", 3, 0))),
			map[string]float64{"r": 1, "x": 1, "y": 1}},
		{"by accounts before users", tree("root", 1, 100,
			tree("a", 1, 80, tree("x", 1, 0), tree("y", 1, 80)), tree("b", 1, 20, tree("z", 1, 20))),
			map[string]float64{"z": 1, "x": 2. / 3, "y": 1. / 3}},
		{"shares weigh usage", tree("root", 1, 100, tree("x", 3, 60), tree("y", 1, 40)),
			map[string]float64{"x": 1, "y": 1. / 2}},
		{"accounts that are alike are one", tree("root", 1, 100,
			tree("a", 1, 50, tree("x", 1, 40), tree("y", 1, 10)), tree("b", 1, 50, tree("z", 1, 50))),
			map[string]float64{"y": 1, "z": 2. / 3, "x": 1. / 3}},
		{"no shares come last", tree("root", 1, 10, tree("x", 0, 0), tree("y", 1, 10)),
			map[string]float64{"y": 1, "x": 1. / 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := &clusterConfig{root: test.root}
			cfg.rankTree()
			var visit func(a *association)
			visit = func(a *association) {
				for _, c := range a.children {
					if want, ok := test.want[c.Name]; ok && math.Abs(c.factor-want) > 1e-12 {
						t.Errorf("the factor of %s is %v, want %v", c.Name, c.factor, want)
					}
					visit(c)
				}
			}
			visit(test.root)
		})
	}
}

// TestShares: without Fair Tree, x has used 0.6 of all and counts with a quarter of the other 0.2 of its account, against
// a quarter of two thirds of the shares.
func TestShares(t *testing.T) {
	root := tree("root", 1, 100, tree("a", 2, 80, tree("x", 1, 60), tree("y", 3, 20)), tree("b", 1, 20, tree("z", 1, 20)))
	m := &multifactor{clusterConfig: &clusterConfig{root: root}}
	for _, m.Damping = range []float64{1, 2} {
		m.divide(root, 1)
		for i, want := range []float64{-3.9, -1.3, -0.6} {
			got := m.fair([]*association{root.children[0].children[0], root.children[0].children[1], root.children[1].children[0]}[i])
			if math.Abs(math.Log2(got)-want/m.Damping) > 1e-9 {
				t.Errorf("factor %d is 2^%v, want 2^%v", i, math.Log2(got), want/m.Damping)
			}
		}
	}
}

// TestSharesAtUpdate: without Fair Tree an update charges an account with its usage before the update, and a user when it
// handles the first waiting job of that user. The users x and y have one account, z has another with equal shares, and
// only x has used anything.
func TestSharesAtUpdate(t *testing.T) {
	p := policy.Policy{Order: Multifactor, Backfill: Periodic, Settings: policy.Settings{"weight_fair_share": 1.0,
		"fair_tree": false, "half_life": time.Duration(0), "recalculate": time.Minute}}.Complete()
	run := scheduler.Run{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 16}}}}
	for i, who := range []string{"a x", "a x", "b z", "a y", "a x"} {
		account, user, _ := strings.Cut(who, " ")
		j := scheduler.Job{Number: i, Name: who, User: user, Threads: 4}
		j.Own().Submission = &scheduler.Submission{Account: account}
		run.Jobs = append(run.Jobs, j)
	}
	m := newMultifactor(policy.Setup{Policy: p, Run: &run})
	for i := range run.Jobs {
		m.OnEvent(&scheduler.Event{Kind: scheduler.Arrive, Job: i})
	}
	m.OnEvent(&scheduler.Event{Kind: scheduler.Start, Job: 0, Cores: scheduler.CoreSet{{Hi: 4}}})
	for _, want := range []map[string]float64{
		{"x": -2, "y": 0, "z": 0},  // half of x's part of all usage, against a quarter of all shares
		{"x": -4, "y": -2, "z": 0}, // all of it, and half of it for y
	} {
		m.Rerank(m.next)
		for user, log := range want {
			account := map[string]string{"z": "b"}[user]
			if _, factor, _ := m.Usage(cmp.Or(account, "a"), user); factor != math.Exp2(log) {
				t.Errorf("at %s the share of %s is %v, want 2^%v", m.last, user, factor, log)
			}
		}
	}
}

// TestCharge: a job of 4 cores runs for 90 s, and usage is brought up to date after 60. Its last 30 s count at its end, or not
// at all.
func TestCharge(t *testing.T) {
	for charge, want := range map[string]float64{"": 360, "updates": 240} {
		settings := policy.Settings{"weight_fair_share": 1.0, "half_life": time.Duration(0), "recalculate": time.Minute}
		if charge != "" {
			settings["charge"] = charge
		}
		p := policy.Policy{Order: Multifactor, Backfill: Periodic, Settings: settings}.Complete()
		run := scheduler.Run{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 16}}},
			Jobs: []scheduler.Job{{Name: "j", User: "x", Threads: 4}}}
		m := newMultifactor(policy.Setup{Policy: p, Run: &run})
		m.OnEvent(&scheduler.Event{Kind: scheduler.Arrive})
		m.OnEvent(&scheduler.Event{Kind: scheduler.Start, Cores: scheduler.CoreSet{{Hi: 4}}})
		m.OnEvent(&scheduler.Event{Kind: scheduler.Finish, At: 90 * time.Second})
		if used, _, _ := m.Usage("", "x"); used != want {
			t.Errorf("charge = %q: the usage is %v, want %v", charge, used, want)
		}
	}
}
