package formats

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Requests are multiplied with all their bounds, and times of a trace are within 64 bits.
func TestShapeOfRequests(t *testing.T) {
	tr := workload.Trace{Jobs: []scheduler.Job{{Threads: 2, MinThreads: 1, MaxThreads: 3, Deadline: scheduler.Never, Predicted: 1}},
		Lines: []int32{1}, RunTimes: []time.Duration{0}, Resizes: []scheduler.Resize{{Threads: 2}}}
	if err := (Shape{ThreadsPerProcessor: 4, MinRunTime: time.Second}).Apply(&tr); err != nil {
		t.Fatal(err)
	}
	if j := tr.Jobs[0]; j.Threads != 8 || j.MinThreads != 4 || j.MaxThreads != 12 || j.Predicted != time.Second ||
		j.Deadline != scheduler.Never || tr.RunTimes[0] != time.Second || tr.Resizes[0].Threads != 8 {
		t.Errorf("%+v", tr)
	}
	longer := workload.Trace{Jobs: []scheduler.Job{{Deadline: scheduler.Never, Predicted: 3 * time.Second}}, RunTimes: []time.Duration{2 * time.Second}}
	if err := (Shape{RunTimeScale: 1.5}).Apply(&longer); err != nil || longer.RunTimes[0] != 3*time.Second ||
		longer.Jobs[0].Predicted != 4500*time.Millisecond {
		t.Errorf("run times half as long again: %v, %+v", err, longer)
	}
	late := workload.Trace{Jobs: []scheduler.Job{{Arrival: 1 << 62, Deadline: scheduler.Never}}}
	if err := (Shape{Scale: 2}).Apply(&late); err == nil {
		t.Error("an arrival out of range")
	}
	if err := (Shape{Shifted: true, Start: time.Second}).Apply(&late); err != nil || late.Jobs[0].Arrival != time.Second {
		t.Errorf("moved to the start: %v, %+v", err, late.Jobs[0])
	}
}

// A template supplies the properties that a trace lacks, and the greater number of threads counts.
func TestTemplateFillsIn(t *testing.T) {
	have := scheduler.Job{Name: "j", Arrival: 5, Threads: 4, Deadline: scheduler.Never, Priority: -1}
	as := scheduler.Job{Class: "c", Deadline: 10, MinThreads: 6, MaxThreads: 2, Priority: 3, User: "u", Memory: 7, GPUs: 1, Nodes: 2, Special: &scheduler.Special{Batch: 9}}
	got := Template(have, as)
	if got.Deadline != 15 || got.MinThreads != 4 || got.MaxThreads != 4 || got.Priority != 3 || got.User != "u" || got.Memory != 7 ||
		got.GPUs != 1 || got.Nodes != 2 || got.Batch() != 9 || got.Class != "c" || got.Arrival != 5 {
		t.Errorf("%+v", got)
	}
	own := have
	own.Deadline, own.Priority, own.User, own.Memory, own.GPUs, own.Nodes, own.Own().Batch = 8, 0, "v", 1, 2, 3, 1
	if got := Template(own, as); got.Deadline != 8 || got.Priority != 0 || got.User != "v" || got.Memory != 1 || got.GPUs != 2 ||
		got.Nodes != 3 || got.Batch() != 1 {
		t.Errorf("%+v", got)
	}
	as.MaxThreads, as.Deadline = 0, scheduler.Never-5
	if got := Template(have, as); got.MaxThreads != 0 || got.Deadline != scheduler.Never {
		t.Errorf("without bounds: %+v", got)
	}
	as.Deadline = 0
	if got := Template(have, as); got.Deadline != scheduler.Never {
		t.Errorf("without a deadline: %+v", got)
	}
}

func TestShape(t *testing.T) {
	s := time.Second
	read := func() workload.Trace {
		return workload.Trace{
			Jobs: []scheduler.Job{
				{Number: 0, Name: "late", Arrival: 13 * s, Threads: 2, Deadline: 20 * s, Predicted: 1},
				{Number: 1, Name: "early", Arrival: 10 * s, Threads: 1, Deadline: scheduler.Never},
				{Number: 2, Name: "cut", Arrival: 1 * s, Threads: 1, Deadline: scheduler.Never},
			},
			RunTimes:    []time.Duration{0, -1, 5 * s},
			Lines:       []int32{1, 2, 4},
			Resizes:     []scheduler.Resize{{At: 15 * s, Job: 1, Threads: 3}, {At: 16 * s, Job: 2, Threads: 1}},
			ResizeLines: []int32{3, 5},
		}
	}
	tr := read()
	if err := (Shape{Limit: 2, Scale: 0.5, Resolution: s, Start: 4 * s, Shifted: true, MinRunTime: s,
		ThreadsPerProcessor: 2}).Apply(&tr); err != nil {
		t.Fatal(err)
	}
	want := workload.Trace{
		Jobs: []scheduler.Job{
			{Number: 0, Name: "late", Arrival: 5 * s, Threads: 4, Deadline: 12 * s, Predicted: s},
			{Number: 1, Name: "early", Arrival: 4 * s, Threads: 2, Deadline: scheduler.Never},
		},
		RunTimes:    []time.Duration{s, -1},
		Lines:       []int32{1, 2},
		Resizes:     []scheduler.Resize{{At: 6 * s, Job: 1, Threads: 6}},
		ResizeLines: []int32{3},
	}
	if diff := cmp.Diff(want, tr); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	tr = read()
	if err := (Shape{}).Apply(&tr); err != nil || cmp.Diff(read(), tr) != "" {
		t.Errorf("an empty shape changes the trace: %v\n%s", err, cmp.Diff(read(), tr))
	}
	if err := (Shape{Scale: 1e18}).Apply(&tr); err == nil {
		t.Error("arrivals is out of range are accepted")
	}
}

func TestTemplate(t *testing.T) {
	one := scheduler.Job{Number: 0, Name: "a", Class: "mlp", Threads: 4, Priority: -1, Deadline: scheduler.Never}
	other := scheduler.Job{
		Number: 1, Name: "b", Class: "svm", Arrival: 1500 * time.Millisecond, Threads: 2,
		Priority: 3, Deadline: scheduler.Never, GPUs: 2, Nodes: 2,
	}
	template := scheduler.Job{Class: "deep", Malleable: true, Priority: 1, Deadline: time.Second, MinThreads: 2,
		MaxThreads: 3}
	got := Template(one, template)
	if got.Priority != 1 || got.MinThreads != 2 || got.MaxThreads != 4 || !got.Malleable || got.Name != "a" ||
		got.Class != "deep" {
		t.Errorf("%+v", got)
	}
	if got := Template(other, template); got.Priority != 3 || got.MaxThreads != 3 ||
		got.Deadline != 2500*time.Millisecond ||
		got.GPUs != 2 || got.Nodes != 2 {
		t.Errorf("%+v", got)
	}
}
