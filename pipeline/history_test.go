package pipeline

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

// Runs of the same program in another experiment of the same folder are
// history, whatever the job block is called there; those of this experiment's
// own plan are what its estimates are judged by.
func TestHistoryIsOfOtherExperiments(t *testing.T) {
	out := t.TempDir()
	p := plan(t, realFile, out)
	r := openRun(t, p)
	happened(t, p, 0, 3*time.Second, record.CellFinished)
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	const history = "\nestimate { model = \"history\" }\n"
	if own := plan(t, realFile+history, out); len(own.x.History()) != 0 {
		t.Errorf("%d runs of the plan itself are its history", len(own.x.History()))
	}
	other := strings.NewReplacer(`"real"`, `"other"`, `job "t"`, `job "u"`, "job.t", "job.u", "epochs  = 10",
		"epochs = 20").Replace(realFile)
	q := plan(t, other+history, out)
	if len(q.x.History()) != 2 {
		t.Fatalf("%d past runs, want 2", len(q.x.History()))
	}
	u := q.x.Units()[0]
	name, kind := u.Identity()
	past := q.x.History()[0]
	if past.Job != name || past.Kind != kind || past.Length != 10 || past.Seconds != 3 || past.Resource.Threads != 1 ||
		past.Resource.Host != q.x.HostPrint() {
		t.Errorf("%+v is not the past of %s (%s)", past, name, kind)
	}
	sampled(q, 0.2)
	est, ok := u.Estimate()
	// Samples alone say 0.2 s an epoch, the past some 0.25: the truth is between.
	if !ok || est.Model != "history" || est.Slope <= 0.201 || est.Slope >= 0.25 {
		t.Errorf("%+v, %v", est, ok)
	}
	if linear := plan(t, other, out); len(linear.x.History()) != 0 {
		t.Error("a model that looks at no history reads it")
	}
	// A program that is another one has another past.
	changed := strings.Replace(other, `["true"]`, `["true", "--fast"]`, 1)
	c := plan(t, changed+history, out)
	if name, _ := c.x.Units()[0].Identity(); name == past.Job {
		t.Error("a job with another command is taken for the same")
	}
}
