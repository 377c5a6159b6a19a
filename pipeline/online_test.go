package pipeline

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// onlineFile has estimates; a third of them are too long or too short by a factor of 2.7.
const onlineFile = `
experiment "estimates" { replicates = 10 }

job "train" {
  command   = ["train"]
  epochs    = 50
  threads   = 2
  malleable = %t
  runtime {
    startup  = "1s"
    epoch    = exponential("2s")
    parallel = 0.8
  }
}

workload "w" {
  submit {
    job          = job.train
    count        = 200
    interarrival = exponential("17s")
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 8
}

policy "srtf" {
  order      = "srtf"
  allocation = %q
  estimates  = each.estimates
}

matrix {
  estimates = ["oracle", "fitted", noisy(1), "online", online(1)]
}

plot "jct" {}
`

// meanJCT runs an experiment and returns the mean JCT over the cells of each value of its axis.
func meanJCT(t *testing.T, source string) map[string]float64 {
	t.Helper()
	p := plan(t, source, t.TempDir())
	if out, err := p.Run(context.Background()); err != nil || out.Failed > 0 {
		t.Fatal(out, err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, c := range e.Cells {
		sums[c.Axes[0].Value] += measure.MeanJCT.Of(&c.Metrics) / float64(e.Plan.Replicates)
	}
	return sums
}

// When first estimates are badly wrong, correcting them during the run moves the result of shortest remaining time
// first closer to the result with exact run times. When first estimates are good, corrections change nothing.
func TestOnlineEstimatesRepairBadOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	jct := meanJCT(t, fmt.Sprintf(onlineFile, false, "strict"))
	oracle, noisy, online := jct["oracle"], jct["noisy(1)"], jct["online(1)"]
	t.Logf("mean JCT: oracle %.1f s, noisy(1) %.1f s, online(1) %.1f s", oracle, noisy, online)
	if !(noisy > 1.05*oracle) {
		t.Fatal("the errors do no harm: there is nothing to repair")
	}
	if math.Abs(online-oracle) > 0.7*math.Abs(noisy-oracle) {
		t.Error("online estimates do not come nearer")
	}
	if jct["fitted"] != oracle || jct["online"] != oracle {
		t.Errorf("without errors: fitted %.3f, online %.3f, oracle %.3f", jct["fitted"], jct["online"], oracle)
	}
}

// Estimates are also corrected for resized jobs. Units that ran on another number of threads are weighted by the
// speed on that number.
func TestOnlineEstimatesOfResizedJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	jct := meanJCT(t, fmt.Sprintf(onlineFile, true, "max_prop"))
	oracle, noisy, online := jct["oracle"], jct["noisy(1)"], jct["online(1)"]
	t.Logf("mean JCT: oracle %.1f s, noisy(1) %.1f s, online(1) %.1f s", oracle, noisy, online)
	if math.Abs(online-oracle) > math.Abs(noisy-oracle) {
		t.Error("online estimates do not come nearer")
	}
}

const onlineReal = `
experiment "real" { replicates = 1 }

job "train" {
  command = ["sh", "-c", <<EOT
e=0
while [ $e -lt $TFEXP_EPOCHS ]; do
	i=0
	while [ $i -lt 5000 ]; do i=$((i+1)); done
	e=$((e+1))
	echo "{\"tfexp\":{\"epoch\":$e}}"
done
EOT
  ]
  epochs = 20
}

workload "w" {
  submit {
    job   = job.train
    count = 3
  }
}

hardware "here" {
  engine  = "process"
  threads = 1
}

policy "srtf" {
  order     = "srtf"
  estimates = %s
}

plot "jct" {}
`

// The remaining times of real jobs are corrected by the lines that the jobs print. The simulation of a real cell
// corrects by the simulated progress.
func TestOnlineEstimatesOfRealJobs(t *testing.T) {
	out := t.TempDir()
	runs(t, fmt.Sprintf(onlineReal, `"fitted"`), out, 1)
	runs(t, fmt.Sprintf(onlineReal, "online(0.5)"), out, 1)
	p := plan(t, fmt.Sprintf(onlineReal, "online(0.5)"), out)
	if !p.Work[0].Reuse {
		t.Error("the same runs again:", p.Work[0].Reason)
	}
	if p := plan(t, fmt.Sprintf(onlineReal, `"online"`), out); p.Work[0].Reuse ||
		!strings.Contains(p.Work[0].Reason, "policy.sigma") {
		t.Errorf("another error is another cell: %+v", p.Work[0])
	}
	for _, dir := range []string{"", record.TwinDir} {
		raw, err := os.ReadFile(filepath.Join(p.Dir, record.CellsDir, p.Cells[0].Cell, dir, record.EventsFile))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(raw), `"event":"predict"`); n < 3 {
			t.Errorf("%q: %d predictions of three jobs:\n%s", dir, n, raw)
		}
		if !strings.Contains(string(raw), "of 20 units are done: ") {
			t.Errorf("%q: %s", dir, raw)
		}
	}
}
