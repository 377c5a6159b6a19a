package measure_test

import (
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/servers/market"
)

func TestMetricNames(t *testing.T) {
	for _, name := range []string{"mean_jct_s", "mean_jct", "throughput_per_h", "throughput", "preemptions"} {
		if _, ok := measure.MetricByName(name); !ok {
			t.Errorf("there is no metric %q", name)
		}
	}
	if _, ok := measure.MetricByName("mean"); ok {
		t.Error("there is a metric \"mean\"")
	}
	var seen measure.Metrics
	for i, m := range measure.AllMetrics() {
		seen.Set(m, float64(i+1))
	}
	for i, m := range measure.AllMetrics() {
		if got := m.Of(&seen); got != float64(i+1) {
			t.Errorf("%s reads %v, want %d", m.Name, got, i+1)
		}
	}
}

// TestServersOfAnElasticJob: a job continues without a worker whose server is revoked, which counts as a
// revocation; its servers list the roles of its parts. A change of its parts without a loss is not a
// revocation.
func TestServersOfAnElasticJob(t *testing.T) {
	terms := &market.Terms{Market: market.Spot, Price: market.Fixed(3600)}
	s := measure.Setup{Terms: []measure.Rental{terms, terms}}
	s.Cluster = scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}}
	s.Jobs = []scheduler.Job{{Name: "j", Threads: 2, Deadline: scheduler.Never}}
	both := &cluster.Layout{Parts: []scheduler.Part{{Node: 0, Role: "ps"}, {Node: 0, Role: "chief", Cores: cores(0, 1)},
		{Node: 1, Role: "worker", Cores: cores(1, 2)}}}
	one := &cluster.Layout{Parts: both.Parts[:2]}
	server := &scheduler.Server{Market: market.Spot}
	c := collect(s, []scheduler.Event{
		{Kind: scheduler.NodeRequest, Node: 0, Server: server}, {Kind: scheduler.NodeRequest, Node: 1, Server: server},
		{Kind: scheduler.NodeStart, Node: 0}, {Kind: scheduler.NodeStart, Node: 1},
		{Kind: scheduler.Arrive, Job: 0}, {Kind: scheduler.Start, Job: 0, Cores: cores(0, 2), Layout: both},
		{At: 5 * second, Kind: scheduler.ResizeJob, Job: 0, Cores: cores(0, 1), Layout: one},
		{At: 6 * second, Kind: scheduler.ResizeJob, Job: 0, Cores: cores(0, 2), Layout: both},
		{At: 10 * second, Kind: scheduler.NodeEnd, Node: 1, Revoked: true},
		{At: 10 * second, Kind: scheduler.ResizeJob, Job: 0, Cores: cores(0, 1), Layout: one},
		{At: 20 * second, Kind: scheduler.Finish, Job: 0},
		{At: 20 * second, Kind: scheduler.NodeEnd, Node: 0},
	})
	if got := c.Outcome(0).Revocations; got != 1 {
		t.Errorf("%g revocations, want 1", got)
	}
	servers := c.Servers()
	if len(servers) != 2 || len(servers[0].Roles) != 2 || servers[0].Roles[1] != "chief" ||
		servers[1].Roles[0] != "worker" ||
		!servers[1].Revoked || servers[0].Revoked || servers[0].Cost != 20 || servers[1].Cost != 10 {
		t.Errorf("servers %+v", servers)
	}
}
