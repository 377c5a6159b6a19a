package clusters

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

const batsim = `{
  "nb_res": 8,
  "jobs": [
    {"id": 0, "subtime": 1.5, "res": 4, "walltime": 300, "profile": "d"},
    {"id": "w0!1", "subtime": 2, "res": 2, "profile": "d"}
  ],
  "profiles": {"d": {"type": "delay", "delay": 12.25}, "p": {"type": "parallel", "cpu": [1]}}
}`

func TestBatsim(t *testing.T) {
	tr, err := formats.Find("batsim").Read("f", strings.NewReader(batsim), formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := 12250 * time.Millisecond
	want := workload.Trace{
		Processors: 8,
		RunTimes:   []time.Duration{run, run},
		Lines:      []int32{4, 5},
		Jobs: []scheduler.Job{
			{Number: 0, Name: "job-0", Class: "d", Arrival: 1500 * time.Millisecond, Threads: 4, Priority: -1,
				Deadline: scheduler.Never, Predicted: 5 * time.Minute},
			{Number: 1, Name: "job-w0!1", Class: "d", Arrival: 2 * time.Second, Threads: 2, Priority: -1,
				Deadline: scheduler.Never, Predicted: run},
		},
	}
	if diff := cmp.Diff(want, tr); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, c := range []struct {
		old, new string
		line     int
		want     string
	}{
		{`"res": 2`, `"res": 0`, 5, "the number of cores 0 is out of range"},
		{`"id": "w0!1", `, ``, 5, "the job has no field id"},
		{`"id": "w0!1"`, `"id": null`, 5, "the job has no field id"},
		{`"id": "w0!1"`, `"id": {}`, 5, "id is neither a number nor a text"},
		{`"res": 2`, `"res": "2"`, 5, "res is a text, but must be a whole number"},
		{`2, "profile": "d"`, `2, "profile": "e"`, 5, `no profile "e"`},
		{`2, "profile": "d"`, `2, "profile": "p"`, 5, `of the type "parallel"`},
		{`"subtime": 2,`, `"subtime": 1e300,`, 5, "out of range"},
	} {
		text := strings.Replace(batsim, c.old, c.new, 1)
		_, err := formats.Find("batsim").Read("f", strings.NewReader(text), formats.Options{})
		place(t, err, c.line, c.want)
		tr, err := formats.Find("batsim").Read("f", strings.NewReader(text), formats.Options{Lenient: true})
		if err != nil || len(tr.Jobs) != 1 || len(tr.Skipped) != 1 {
			t.Errorf("lenient: %d jobs, %v skipped, error %v", len(tr.Jobs), tr.Skipped, err)
		}
	}
	_, err = formats.Find("batsim").Read("f", strings.NewReader("{\n\"jobs\": [\n"), formats.Options{Lenient: true})
	place(t, err, 3, "unexpected end")
	_, err = formats.Find("batsim").Read("f", strings.NewReader("{\n\"jobs\": {}}"), formats.Options{})
	place(t, err, 2, "jobs is an object, but must be a list")
	defer func(most int) { mostBatsim = most }(mostBatsim)
	mostBatsim = 1 << 20
	_, err = formats.Find("batsim").Read("f", io.LimitReader(blanks{}, 1<<40), formats.Options{})
	if err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("a file without an end: %v", err)
	}
}

// blanks is a file of blanks.
type blanks struct{}

func (blanks) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// TestBatsimOfSlurm names the format of a log of sacct in JSON, whose name ends as those of Batsim.
func TestBatsimOfSlurm(t *testing.T) {
	_, err := formats.Of("log.json").Read("log.json", strings.NewReader(`{"jobs": [{"job_id": 1, "time": {"submission": 1700000000}}]}`), formats.Options{})
	if err == nil || !strings.Contains(err.Error(), `log.json: it is JSON of Slurm, and not of Batsim: for a log of sacct, write  format = "sacct"`) {
		t.Errorf("the error is %v", err)
	}
}
