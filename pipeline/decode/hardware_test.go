package decode_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/pipeline/decodetest"
)

// machine is hardware of one machine.
const machine = `
experiment "e" {}
job "a" {
  command = ["x"]
  epochs  = 4
  runtime { epoch = "1m" }
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine = "simulated"
  threads = 4
  MORE
}
policy "p" { order = "fcfs" }
`

// Simulated hardware has costs of actions, and a list of capabilities that the engine must not use.
func TestSimulatedHardware(t *testing.T) {
	spec, text := decodetest.Beside(t, strings.Replace(machine, "MORE",
		"noise = 0.1\nlacks = [\"resize\", \"pause\", \"resize\"]\noverheads {\n start = \"1s\"\n resume = \"3s\"\n}", 1), nil)
	if spec == nil {
		t.Fatal(text)
	}
	h := spec.Cells[0].Hardware
	if o := h.Overheads; o.Start != time.Second || o.Migrate != 3*time.Second || o.Resume != 3*time.Second || o.Pause != 0 ||
		h.Noise != 0.1 || !slices.Equal(h.Lacks, []string{"pause", "resize"}) || h.Contention != nil {
		t.Errorf("%+v %+v", h, o)
	}
	if c := h.Capabilities(); c.Pause || c.Resize || !c.Migrate {
		t.Errorf("it can %+v", c)
	}
	for more, want := range map[string]string{
		"overheads {\n start = \"-1s\"\n}":            "start",
		"contention {\n memory = -1\n}":               "contention",
		"engine = \"nothing\"":                        "engine",
		"overheads {\n begin = \"1s\"\n}\nnoise = -1": "begin",
	} {
		if got, text := decodetest.Beside(t, strings.Replace(machine, "MORE", more, 1), nil); got != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %s", more, text)
		}
	}
	spec, text = decodetest.Beside(t, strings.Replace(machine, "MORE",
		"overheads {\n resume = \"3s\"\n migrate = \"9s\"\n}\ngpus = 2\ngpu = \"v100\"", 1), nil)
	if spec == nil {
		t.Fatal(text)
	}
	if h := spec.Cells[0].Hardware; h.Overheads.Migrate != 9*time.Second || h.Overheads.Resume != 3*time.Second ||
		h.Cluster.Nodes[0].GPUs != 2 || h.Cluster.Nodes[0].GPU != "v100" {
		t.Errorf("%+v %+v", h, h.Overheads)
	}
}
