package roles

import (
	"slices"
	"testing"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

func three() *Roles {
	return &Roles{List: []scheduler.Role{
		{Name: "ps", Count: 2, Threads: 1},
		{Name: "worker", Count: 4, Threads: 2, GPUs: 1, GPU: "V100", Elastic: true, Min: 2, Max: 6},
		{Name: "chief", Count: 1, Threads: 3, Elastic: true, Vital: true, Min: 1},
	}}
}

// The scheduler and the engine get the parts of a job, whose program then runs several times.
func TestJobInParts(t *testing.T) {
	j := &experiment.Job{Name: "j", Threads: experiment.Threads{Request: 13}, Parts: experiment.Parts{three()}}
	template := j.Template()
	if !j.RunsAsSeveralPrograms() || j.Divisible() || !slices.Equal(template.Roles(), three().List) {
		t.Errorf("in parts %t, divisible %t: %+v", j.RunsAsSeveralPrograms(), j.Divisible(), template.Roles())
	}
	var l launch.Job
	experiment.EachPart(j.Parts, func(p stages.LaunchPart) { p.Launch(&l) })
	if !slices.Equal(l.Roles, three().List) {
		t.Errorf("started with %+v", l.Roles)
	}
}

// A job can lose workers above the least number, but no part of a vital role or of a role that is not elastic.
func TestFewest(t *testing.T) {
	j := &experiment.Job{Threads: experiment.Threads{Request: 13}, Parts: experiment.Parts{three()}}
	fewest := j.WithFewest()
	left, _ := experiment.PartOf[*Roles](fewest.Parts)
	if left.count("ps") != 2 || left.count("worker") != 2 || left.count("chief") != 1 || fewest.Threads.Request != 9 {
		t.Errorf("%+v on %d threads, want 2, 2 and 1 on 9", left.List, fewest.Threads.Request)
	}
	if whole, _ := experiment.PartOf[*Roles](j.Parts); whole.count("worker") != 4 || j.Threads.Request != 13 {
		t.Errorf("the job itself has changed: %+v", whole.List)
	}
}

// Each role has a line in the keys of samples and cells.
func TestHeldLines(t *testing.T) {
	want := []stages.KeyLine{
		{Label: "job.j.role.ps", Value: "2 parts, threads 1, gpus 0, elastic false, min 0"},
		{Label: "job.j.role.worker", Value: "4 parts, threads 2, gpus 1, elastic true, min 2, gpu V100, max 6"},
		{Label: "job.j.role.chief", Value: "1 parts, threads 3, gpus 0, elastic true, min 1, vital"},
	}
	if got := three().HeldLines("job.j."); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
