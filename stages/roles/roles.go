// Package roles is the feature of jobs whose program runs several times, as parameter servers and workers do: the block
// `role` within job blocks.
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

// Roles are the parts of a job that has several; its request is their sum. They are a part of the job.
type Roles struct{ List []scheduler.Role }

// InParts implements experiment.SeveralPart.
func (*Roles) InParts() {}

// Request implements experiment.RequestPart.
func (p *Roles) Request(j *scheduler.Job) { j.Own().Roles = p.List }

// Launch implements stages.LaunchPart.
func (p *Roles) Launch(j *launch.Job) { j.Roles = p.List }

// Fewest implements experiment.SeveralPart: all parts that the job can lose are lost.
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

// ask lists the requests of the parts: "2 of worker want 1 thread, 1 GPU of the type V100 each".
func (p *Roles) ask() string {
	var asks []string
	for _, r := range p.List {
		d := cluster.Demand{Threads: r.Threads, GPUs: r.GPUs, GPU: r.GPU, Nodes: 1}
		asks = append(asks, fmt.Sprintf("%d of %s want %s each", r.Count, r.Name, d))
	}
	return strings.Join(asks, ", ")
}
