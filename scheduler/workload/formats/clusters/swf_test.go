package clusters

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

const swf = `; MaxProcs: 128
; Note: unsorted on purpose
  1 5000 -1 3000 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1

  2 1000 -1 0 4 -1 -1 8 60000 -1 1 -1 1 -1 -1 -1 -1 -1
`

func TestSWF(t *testing.T) {
	tr, err := formats.Find("swf").Read("f", strings.NewReader(swf), formats.Options{Args: map[string]any{"unit": time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	want := workload.Trace{
		Processors: 128,
		Assumed:    []string{"1 of 2 jobs have no requested time: their run time is taken for it"},
		RunTimes:   []time.Duration{3 * time.Second, 0},
		Lines:      []int32{3, 5},
		Jobs: []scheduler.Job{
			{Number: 0, Name: "job-1", Class: "job", Arrival: 5 * time.Second, Threads: 4, Priority: -1,
				Deadline: scheduler.Never, User: "user-7", Predicted: 3 * time.Second},
			{Number: 1, Name: "job-2", Class: "job", Arrival: 1 * time.Second, Threads: 8, Priority: -1,
				Deadline: scheduler.Never, Predicted: time.Minute},
		},
	}
	if diff := cmp.Diff(want, tr); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Memory is in KiB per processor: the requested memory, or otherwise the used one. Partial executions, and jobs that
// were cancelled before they ran, are not jobs.
func TestSWFMemoryAndStatus(t *testing.T) {
	const log = `1 0 -1 10 4 -1 7 -1 -1 1024 1 3 1 -1 -1 -1 -1 -1
2 0 -1 10 4 -1 0.5 8 -1 -1 0 -1 1 -1 -1 -1 -1 -1
3 0 -1 10 4 -1 -1 -1 -1 0 1 -1 1 -1 -1 -1 -1 -1
3 0 -1 5 4 -1 -1 -1 -1 0 2 -1 1 -1 -1 -1 -1 -1
3 5 -1 5 4 -1 -1 -1 -1 0 3 -1 1 -1 -1 -1 -1 -1
4 5 9 -1 -1 -1 -1 4 -1 0 5 -1 1 -1 -1 -1 -1 -1
5 5 9 20 4 -1 -1 4 -1 0 5 -1 1 -1 -1 -1 -1 -1
`
	tr, err := formats.Find("swf").Read("f", strings.NewReader(log), formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var memory []int64
	for _, j := range tr.Jobs {
		names, memory = append(names, j.Name), append(memory, j.Memory)
	}
	if want := []string{"job-1", "job-2", "job-3", "job-5"}; !slices.Equal(names, want) || tr.Ignored != 3 {
		t.Errorf("jobs %v and %d ignored, want %v and 3", names, tr.Ignored, want)
	}
	if want := []int64{4 << 20, 8 * 512, 0, 0}; !slices.Equal(memory, want) {
		t.Errorf("memory %v, want %v", memory, want)
	}
	// Only the first job has both the requested and the used memory.
	if want := []workload.MemoryUse{{Requested: 4 << 20, Used: 28 << 10}, {}, {}, {}}; !slices.Equal(tr.Memory, want) {
		t.Errorf("used %v, want %v", tr.Memory, want)
	}
	kept := tr.Keep(func(i int) bool { return i != 1 })
	if len(kept.Memory) != 3 || kept.Memory[0] != tr.Memory[0] {
		t.Errorf("without a job: %v", kept.Memory)
	}
	if tr, err = formats.Find("swf").Read("f", strings.NewReader(log),
		formats.Options{Args: map[string]any{"memory": false}}); err != nil || tr.Jobs[0].Memory != 0 {
		t.Errorf("memory %d although it is to be ignored, error %v", tr.Jobs[0].Memory, err)
	}
	for want, line := range map[string]string{
		`memory "much" is not a number`: "6 0 -1 10 4 -1 -1 -1 -1 much 1 3 1 -1 -1 -1 -1 -1",
		`memory "1e30" is out of range`: "6 0 -1 10 4 -1 1e30 -1 -1 -1 1 3 1 -1 -1 -1 -1 -1",
	} {
		_, err := formats.Find("swf").Read("f", strings.NewReader(log+line+"\n"), formats.Options{})
		place(t, err, 8, want)
	}
}

func TestMalformedSWFLines(t *testing.T) {
	for want, line := range map[string]string{
		"17 fields":                        "3 1 -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1",
		`submit time "x"`:                  "3 x -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		"the submit time is -1":            "3 -1 -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		"the run time is -1":               "3 1 -1 -1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		"the number of processors is -1":   "3 1 -1 1 -1 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		"out of range":                     "3 99999999999999 -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		`run time "1e999" is out of range`: "3 1 -1 1e999 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		`"job-2" is there twice`:           "2 1 -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		`MaxProcs "many"`:                  "; MaxProcs: many",
	} {
		_, err := formats.Find("swf").Read("f", strings.NewReader(swf+line+"\n"), formats.Options{})
		place(t, err, 6, want)
		tr, err := formats.Find("swf").Read("f", strings.NewReader(swf+line+"\n"), formats.Options{Lenient: true})
		if err != nil || len(tr.Jobs) != 2 || len(tr.Skipped) != 1 {
			t.Errorf("lenient: %d jobs, %v skipped, error %v", len(tr.Jobs), tr.Skipped, err)
		}
	}
}
