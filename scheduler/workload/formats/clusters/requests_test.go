package clusters

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

const requests = `# action, instance, job, threads, wait, priority
execution,a,mlp,4,1.5
execution,b,svm,2,0,3

update,a,mlp,2,10
execution,c,mlp,1,0
`

func TestRequests(t *testing.T) {
	tr, err := formats.Find("requests").Read("f", strings.NewReader(requests), formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	job := func(n int, name, class string, at time.Duration, threads, level int) scheduler.Job {
		return scheduler.Job{Number: n, Name: name, Class: class, Arrival: at, Threads: threads, Priority: level,
			Deadline: scheduler.Never}
	}
	want := workload.Trace{
		Jobs: []scheduler.Job{
			job(0, "a", "mlp", 0, 4, -1),
			job(1, "b", "svm", 1500*time.Millisecond, 2, 3),
			job(2, "c", "mlp", 11500*time.Millisecond, 1, -1),
		},
		Lines:   []int32{2, 3, 6},
		Resizes: []scheduler.Resize{{At: 1500 * time.Millisecond, Job: 0, Threads: 2}}, ResizeLines: []int32{5},
	}
	if diff := cmp.Diff(want, tr); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMalformedRequests(t *testing.T) {
	for want, line := range map[string]string{
		`unknown action "delete"`: "delete,a,mlp,1,0",
		"4 fields":                "execution,d,mlp,1",
		"7 fields":                "execution,d,mlp,1,0,1,1",
		`threads "0"`:             "execution,d,mlp,0,0",
		`threads "two"`:           "execution,d,mlp,two,0",
		`wait "-1"`:               "execution,d,mlp,1,-1",
		`wait "soon"`:             "execution,d,mlp,1,soon",
		`priority "-2"`:           "execution,d,mlp,1,0,-2",
		"has no name":             "execution,,mlp,1,0",
		`"../d" has a character`:  "execution,../d,mlp,1,0",
		`"a" is requested twice`:  "execution,a,mlp,1,0",
		`which was not requested`: "update,z,mlp,1,0",
		"the sum of the waits":    "execution,d,mlp,1,9223372030",
	} {
		_, err := formats.Find("requests").Read("f", strings.NewReader(requests+line+"\n"), formats.Options{})
		place(t, err, 7, want)
		tr, err := formats.Find("requests").Read("f", strings.NewReader(requests+line+"\n"), formats.Options{Lenient: true})
		if err != nil || len(tr.Jobs) != 3 || len(tr.Resizes) != 1 || len(tr.Skipped) != 1 {
			t.Errorf("lenient: %d jobs, %v skipped, error %v", len(tr.Jobs), tr.Skipped, err)
		}
	}
	// All errors of a file are reported together.
	_, err := formats.Find("requests").Read("f", strings.NewReader("x\ny\nz\n"), formats.Options{})
	if err == nil || strings.Count(err.Error(), "f:") != 3 {
		t.Errorf("error %v", err)
	}
}

// A wait may be written as a list of one element, as some programs do.
func TestRequestsWithBrackets(t *testing.T) {
	tr, err := formats.Find("requests").Read("f", strings.NewReader("execution,a,mlp,4,[41.23]\nexecution,b,svm,2,[ 0 ],3\n"),
		formats.Options{})
	if err != nil || len(tr.Jobs) != 2 || tr.Jobs[1].Arrival != 41230*time.Millisecond {
		t.Errorf("%+v, %v", tr.Jobs, err)
	}
	for _, wait := range []string{"[]", "[1,2]", "[x]", "[-1]"} {
		if _, err := formats.Find("requests").Read("f", strings.NewReader("execution,a,mlp,4,"+wait+"\n"), formats.Options{}); err == nil {
			t.Errorf("a wait of %s is accepted", wait)
		}
	}
}
