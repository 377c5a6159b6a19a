//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/record"
	deepening "github.com/tfexp/tfexp/stages/adaptation"
)

// deepened is an experiment in which a real training deepens its network: after half of its budget, and after the job
// has got a second core.
const deepened = `
experiment "deepened" {}

job "net" {
  builtin "mlp" { hidden = [16, 8] }
  image     = IMAGE
  budget    = "1600ms"
  malleable = true
}

hardware "here" {
  engine  = "ENGINE"
  threads = 2
}

adaptation "digits" {
  job       = job.net
  hardware  = hardware.here
  decisions = 1
  decide    = ["800ms"]

  scenario "grows" {
    changes {
      at      = "700ms"
      threads = 2
    }
  }

  controller "constant" { sequence = [1] }
}
`

// deepenedOn returns the experiment deepened for an engine; its file is deepened.hcl.
func deepenedOn(engine, image string) string {
	return strings.NewReplacer("ENGINE", engine, "IMAGE", image).Replace(deepened)
}

// checkDeepened checks the results. The program received its budget, its second core and the decision, and followed all
// three. The program and the engine agree on the rest of the budget, apart from a delay.
func checkDeepened(t *testing.T, dir string) {
	t.Helper()
	e, err := record.Open(filepath.Join(dir, "results", "deepened"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := deepening.ReadTables(e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Courses) != 1 || len(all.RealChoices) != 1 {
		t.Fatalf("%d trainings and %d decisions, want one of each", len(all.Courses), len(all.RealChoices))
	}
	c, d := all.Courses[0], all.RealChoices[0]
	if len(c.Deepening) != 1 || c.Sequence != "1" || !(c.Accuracy > .5) || !(c.Trained > 1.5) {
		t.Errorf("%+v", c)
	}
	if d.TimeLeft > .8 || len(c.Decided) != 1 || c.Decided[0] < .8 {
		t.Errorf("the decision was taken after %v s, with %v s left", c.Decided, d.TimeLeft)
	}
	for i, more := range c.Told {
		if more > 1 || more < -1 {
			t.Errorf("report %d: the program has %v s more left than the engine", i+1, more)
		}
	}
	log, err := os.Open(filepath.Join(dir, "results", "deepened", deepening.TrainingsDir, "digits-grows", "constant-1",
		record.LogsDir, "net-1.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r, err := contract.Parse(log, contract.Last)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Deepened) != 1 || r.Deepened[0].Block != 1 || r.Deepened[0].AccuracyBefore != r.Deepened[0].AccuracyAfter {
		t.Errorf("deepened: %+v", r.Deepened)
	}
	if r.Progress.Threads != 2 { // the program may have started after the change
		t.Errorf("%d threads at the end", r.Progress.Threads)
	}
}

// A network is deepened in a container.
func TestContainersAreDeepened(t *testing.T) {
	needDocker(t)
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "d.hcl"), []byte(deepenedOn("docker", `"tfexp/builtin:latest"`)),
		0o644); err != nil {
		t.Fatal(err)
	}
	tfexp(dir, "run", "d.hcl").succeeds(t)
	checkDeepened(t, dir)
}
