package pipeline

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// targetFile has jobs that may train for up to 150 s and reach their target loss after 82 s, together with jobs of
// 110 s.
const targetFile = `
experiment "target" { replicates = 3 }

job "recorded" {
  command     = ["train"]
  epochs      = 120
  target_loss = %g
  runtime {
    startup = "10s"
    epoch   = "1s"
    losses  = %q
  }
}

job "plain" {
  command = ["train"]
  epochs  = 95
  runtime { epoch = "1s" }
}

workload "w" {
  submit {
    job          = job.recorded
    count        = 30
    interarrival = exponential("200s")
  }
  submit {
    job          = job.plain
    count        = 30
    interarrival = exponential("200s")
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 1
}

policy "srtf" {
  order     = "srtf"
  estimates = each.estimates
}

matrix {
  estimates = ["oracle", "fitted", "loss_curve"]
}

plot "jct" {}
`

func recordedCurve(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../estimator/losscurve/testdata/curves/softmax_1.csv")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Policies that predict the end of jobs from their losses come closer to the decisions that they would make with
// known end times.
func TestLossCurvesTellWhenJobsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it fits loss curves for seconds")
	}
	jct := meanJCT(t, fmt.Sprintf(targetFile, 0.1, recordedCurve(t)))
	oracle, fitted, curve := jct["oracle"], jct["fitted"], jct["loss_curve"]
	t.Logf("mean JCT: oracle %.1f s, fitted %.1f s, loss_curve %.1f s", oracle, fitted, curve)
	if !(fitted > 1.005*oracle) {
		t.Fatal("to expect all epochs does no harm: there is nothing to repair")
	}
	if math.Abs(curve-oracle) > 0.7*math.Abs(fitted-oracle) {
		t.Error("the predictions from losses do not come nearer")
	}
}

// A simulated job ends when its losses reach the target, or at its limit if they never do.
func TestRecordedLossesEndJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("it fits loss curves for seconds")
	}
	for target, want := range map[float64]float64{0.1: 10 + 82, 0.05: 10 + 120} {
		source := strings.Replace(targetFile, `"fitted", "loss_curve"`, "", 1)
		p := plan(t, fmt.Sprintf(source, target, recordedCurve(t)), t.TempDir())
		if out, err := p.Run(t.Context()); err != nil || out.Failed > 0 {
			t.Fatal(out, err)
		}
		e, err := record.Open(p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := e.Jobs(e.Cells[0].CellRef)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if j.Class == "recorded" && math.Abs(j.Service-want) > 1e-6 {
				t.Errorf("target %g: %s ran for %v s, want %v s", target, j.Job, j.Service, want)
			}
		}
	}
}
