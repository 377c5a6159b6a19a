package certain_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	_ "github.com/tfexp/tfexp/stages/all"
)

// TestOnce: a log is replayed once, unless the file says otherwise or something is drawn at random.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	log := "1 0 0 300 4 -1 -1 4 600 -1 1 1 -1 -1 -1 -1 -1 -1\n"
	if err := os.WriteFile(filepath.Join(dir, "log.swf"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments, noise string
		want             int
	}{
		{"", "0", 1},
		{"", "0.1", 5},
		{"replicates = 3", "0", 3},
		{`certain { within = "5%" }`, "0", 5},
	} {
		spec, diags := decode.Source(filepath.Join(dir, "log.hcl"), []byte(`
experiment "log" {
  `+c.arguments+`
}
workload "log" {
  trace { file = "log.swf" }
}
hardware "h" {
  engine  = "simulated"
  threads = 4
  noise   = `+c.noise+`
}
policy "fcfs" { order = "fcfs" }
policy "sjf" {
  order     = "sjf"
  estimates = "requested"
}
compare "mean_waiting" {
  baseline = policy.fcfs
  block    = "24h"
}
`), decode.Options{Host: decodetest.Host})
		if spec == nil {
			t.Fatalf("%+v: %s", c, decodetest.Text(t, diags))
		}
		if spec.Replicates != c.want {
			t.Errorf("%+v: %d replicates", c, spec.Replicates)
		}
	}
}
