package servers

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/servers/market"
)

var (
	// LifetimesMember has the curves of lifetimes of rented servers. Checkpoints has the parameters of jobs that save
	// their work on them.
	LifetimesMember   = stages.RegisterPlanMember("lives", 30, lifetimeCurves)
	CheckpointsMember = stages.RegisterPlanMember("checkpoints", 40, checkpointSettings)
)

// CheckpointSettings has the parameters of the expected time of a job that saves its work and loses its servers. Times
// are in seconds.
type CheckpointSettings struct {
	// Job is the class of the jobs, and Hardware the name of their hardware.
	Job      string `json:"job"`
	Hardware string `json:"hardware"`
	// Between is the mean time between losses of the job's servers.
	Between float64 `json:"between_s"`
	// Cost is the time of a checkpoint. Restart is the time of a restart after a loss. Work is the run time without
	// both.
	Cost    float64 `json:"cost_s"`
	Restart float64 `json:"restart_s"`
	Work    float64 `json:"work_s"`
}

// checkpointSettings returns the parameters of jobs with fixed intervals between checkpoints, each once. It assumes
// that a job holds all servers of its hardware.
func checkpointSettings(x stages.PlanMemberInput) []CheckpointSettings {
	var out []CheckpointSettings
	for _, c := range x.Cells {
		terms := termsOf(c.Hardware)
		between := market.Between(terms)
		if len(terms) == 0 || between <= 0 || between >= market.Forever {
			continue
		}
		restart := time.Duration(0)
		for _, t := range terms {
			if t != nil {
				restart = max(restart, t.Startup.Mean+t.Delay)
			}
		}
		for _, s := range c.Workload.Submits {
			j := s.Job
			saves := checkpointOf(j)
			if saves == nil || saves.Every == 0 || j.Runtime == nil {
				continue
			}
			work := x.RunTime(j)
			one := CheckpointSettings{
				Job: j.Name, Hardware: c.Hardware.Name, Between: between.Seconds(), Cost: saves.Cost.Seconds(),
				Restart: (restart + saves.Restore).Seconds(), Work: work.Seconds(),
			}
			if !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// lifetimeCurves returns the curves of lifetimes of all hardware, each once. There is one for each law and type of
// device, or for nodes without devices.
func lifetimeCurves(x stages.PlanMemberInput) []market.Curve {
	type kind struct{ gpu, law string }
	var out []market.Curve
	at := map[kind]int{}
	named := map[string]bool{}
	seen := map[*experiment.Hardware]bool{}
	for _, c := range x.Cells {
		if seen[c.Hardware] {
			continue
		}
		seen[c.Hardware] = true
		for i, t := range termsOf(c.Hardware) {
			if t == nil || t.Life == nil {
				continue
			}
			node := &c.Hardware.Cluster.Nodes[i]
			k := kind{node.GPU, table.PlainDurations(t.Life.String())}
			n, ok := at[k]
			if !ok {
				n, at[k] = len(out), len(out)
				curve := market.CurveOf(node.GPU, t.Life, t.MaxLife)
				curve.Law = k.law
				out = append(out, curve)
			}
			if node.GPU == "" && !named[node.Name+k.law] {
				named[node.Name+k.law] = true
				out[n].Nodes = append(out[n].Nodes, node.Name)
			}
		}
	}
	for i := range out {
		switch c := &out[i]; len(c.Nodes) {
		case 0:
		case 1:
			c.Of, c.Nodes = c.Nodes[0], nil
		default:
			c.Of = c.Nodes[0] + " … " + c.Nodes[len(c.Nodes)-1]
		}
	}
	return out
}
