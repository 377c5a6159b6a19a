// Package roles adds the block `role` to jobs whose program runs in several parts, such as parameter servers and
// workers.
package roles

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Roles is the part of a job with its roles. The job's request is the sum over its parts.
type Roles struct{ List []scheduler.Role }

// Request implements experiment.RequestPart.
func (p *Roles) Request(j *scheduler.Job) { j.Own().Roles = p.List }

// Launch implements stages.LaunchPart.
func (p *Roles) Launch(j *launch.Job) { j.Roles = p.List }

// Fewest implements experiment.SeveralPart. It returns the roles without the parts that the job can lose, and the
// number of the others.
func (p *Roles) Fewest() (experiment.SeveralPart, int) {
	left, threads := &Roles{List: append([]scheduler.Role(nil), p.List...)}, 0
	for i := range left.List {
		r := &left.List[i]
		if r.Elastic && !r.Vital {
			r.Count = max(r.Min, 1)
		}
		threads += r.Count * r.Threads
	}
	return left, threads
}

// HeldLines implements stages.HeldPart.
func (p *Roles) HeldLines(prefix string) (lines []stages.KeyLine) {
	for _, r := range p.List {
		more := ""
		if r.GPU != "" {
			more += ", gpu " + r.GPU
		}
		if r.Vital {
			more += ", vital"
		}
		if r.Max > 0 {
			more += fmt.Sprintf(", max %d", r.Max)
		}
		lines = append(lines, stages.KeyLine{Label: prefix + "role." + r.Name, Value: fmt.Sprintf(
			"%d parts, threads %d, gpus %d, elastic %t, min %d%s", r.Count, r.Threads, r.GPUs, r.Elastic, r.Min, more)})
	}
	return lines
}

// ask describes the requests of the parts: "2 of worker want 1 thread, 1 GPU of the type V100 each".
func (p *Roles) ask() string {
	var asks []string
	for _, r := range p.List {
		d := cluster.Demand{Threads: r.Threads, GPUs: r.GPUs, GPU: r.GPU, Nodes: 1}
		asks = append(asks, fmt.Sprintf("%d of %s want %s each", r.Count, r.Name, d))
	}
	return strings.Join(asks, ", ")
}
