package pods_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
	_ "github.com/tfexp/tfexp/stages/all"
)

// file is an experiment with a policy, and arguments of its hardware and its job.
const file = `
experiment "e" {}
job "a" {
  command = ["x"]
  epochs  = 4
  JOB
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  HARDWARE
}
policy "p" { POLICY }
`

const inPods = `engine  = "kubernetes"
  threads = 2
  image   = "x:1"
`

// Policies are checked against what pods can do, and the order of the cluster against hardware that has a cluster.
func TestPoliciesOnPods(t *testing.T) {
	for _, test := range []struct{ name, hardware, job, policy, want string }{
		{"pauses", inPods, "", `order = "srtf"`, "Pauses without checkpoints"},
		{"checkpoints", inPods + `checkpoints = "claim:c"`, "", `order = "srtf"`, ""},
		{"short quantum", inPods + `checkpoints = "claim:c"`, "", "\norder = \"las\"\nquantum = \"2s\"\n",
			"Quantum shorter than a pause"},
		{"own order", inPods, "", `order = "cluster"`, ""},
		{"with a queue", inPods, "", "\norder = \"cluster\"\nqueue = \"team-a\"\nqueues = { ann = \"team-b\" }\n", ""},
		{"roles", inPods, `role "worker" { count = 2 }`, `order = "fcfs"`, ""},
		{"roles under the own order", inPods, `role "worker" { count = 2 }`, `order = "cluster"`,
			"Roles under the order of a cluster"},
		{"with a backfill", inPods, "", "\norder = \"cluster\"\nbackfill = \"easy\"\n", "the cluster decides this itself"},
		{"queue of another order", inPods, "", "\norder = \"fcfs\"\nqueue = \"team-a\"\n", "queue"},
		{"on processes", "engine = \"process\"\n", "", `order = "cluster"`, "No cluster that decides"},
		{"in simulation", "engine = \"simulated\"\nthreads = 2\n", "runtime { epoch = \"1s\" }", `order = "cluster"`,
			"Order of a cluster in simulation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := strings.NewReplacer("HARDWARE", test.hardware, "JOB", test.job, "POLICY", test.policy).Replace(file)
			_, text := decodetest.Beside(t, source, nil)
			if test.want == "" && text != "" || !strings.Contains(strings.Join(strings.Fields(text), " "), test.want) {
				t.Errorf("want %q, got\n%s", test.want, text)
			}
		})
	}
}

// Jobs without an image get the image of their hardware, and must name one where two differ.
func TestImageOfHardware(t *testing.T) {
	source := strings.NewReplacer("HARDWARE", inPods, "JOB", "", "POLICY", `order = "fcfs"`).Replace(file)
	spec, text := decodetest.Beside(t, source, nil)
	if text != "" || spec.Cells[0].Workload.JobBlocks()[0].Container.Image != "x:1" || !spec.Cells[0].Hardware.Suspends {
		t.Errorf("%s", text)
	}
	other := "hardware \"other\" {\n" + strings.Replace(inPods, "x:1", "x:2", 1) + "}\n"
	if _, text := decodetest.Beside(t, source+other, nil); !strings.Contains(text, "Two images for a job") {
		t.Error(text)
	}
}
