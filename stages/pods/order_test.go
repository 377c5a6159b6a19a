package pods

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages"
)

// placing is an engine in virtual time whose cluster has placed all jobs on the only node.
type placing struct{ scheduler.Engine }

func (placing) Submit(int, string)                {}
func (placing) Withdraw(int)                      {}
func (placing) Placement(int) (int, bool, string) { return 0, true, "" }

// A job that the cluster has placed where another still holds the cores starts when these are free; after half a minute in
// vain the run fails, and says what to do.
func TestLatePlacement(t *testing.T) {
	for length, want := range map[time.Duration]string{20 * time.Second: "", 40 * time.Second: "too little room for it"} {
		on := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 1}}}
		jobs, work := make([]scheduler.Job, 2), make([]simulated.Scaling, 2)
		for i := range jobs {
			jobs[i] = scheduler.Job{Number: i, Name: []string{"a", "b"}[i], Threads: 1}
			work[i] = simulated.FullRequest(length, 1)
		}
		sim, err := simulated.New(jobs, work, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		task := stages.Task{Policy: policy.Policy{Order: Cluster}.Complete(), Hardware: stages.Hardware{Kind: "simulated"},
			Setup: record.Setup{}}
		task.Setup.Cluster = on
		c := &schedulertest.Choices{}
		r := scheduler.Run{Policy: task.Decider(t.Context()), Cluster: on, Jobs: jobs, Engine: placing{sim}, Recorder: c}
		_, err = r.Execute(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("jobs of %s: %v", length, err)
		}
		if d := c.Decisions[len(c.Decisions)-1]; want == "" && !strings.Contains(d.Reason, "placed it 20 s earlier") {
			t.Errorf("the reason of the last start: %q", d.Reason)
		}
		var starts []time.Duration
		for _, e := range c.Events {
			if e.Kind == scheduler.Start {
				starts = append(starts, e.At)
			}
		}
		if len(starts) == 0 || want == "" && (len(starts) != 2 || starts[1] < length || starts[1] > length+time.Second) {
			t.Errorf("jobs of %s start at %v", length, starts)
		}
	}
}
