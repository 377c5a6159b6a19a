package decode_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decode"
)

// Impossible numbers in files of other programs are refused with their line: shares above 1, times below 0, and two
// numbers for the same place.
func TestImpossibleNumbersOfOthers(t *testing.T) {
	const experiment = `
experiment "e" { replicates = 1 }
job "j" {
  command = ["train"]
  epochs  = 1
  runtime { epoch = "1s" }
}
workload "w" {
  submit { job = job.j }
}
hardware "h" {
  engine  = "simulated"
  threads = 1
}
policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
reference "paper" { file = "numbers.csv" }
`
	for table, want := range map[string]string{
		"policy,utilization\nfcfs,0.9\nsjf,85\n":                "The utilization cannot be 85: it is between 0 and 1",
		"policy,final_accuracy\nfcfs,93\n":                      "The final_accuracy cannot be 93",
		"policy,mean_jct_s\nfcfs,-3\n":                          "The mean_jct_s cannot be -3: it is never below 0",
		"policy,mean_jct_s\nfcfs,3\nsjf,4\nfcfs,5\n":            "The mean_jct_s has a number there already, on line 2",
		"policy,mean_jct_s,utilization\nfcfs,3,\nfcfs,,0.5\n":   "",
		"policy,final_loss,mean_jct_s\nfcfs,-3,0\nsjf,0.5,12\n": "",
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"e.hcl": experiment, "numbers.csv": table} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, diags := decode.File(filepath.Join(dir, "e.hcl"), decode.Options{})
		var said strings.Builder
		for _, d := range diags {
			said.WriteString(d.Summary + " " + d.Detail + "\n")
		}
		if (want == "") == diags.HasErrors() || !strings.Contains(said.String(), want) {
			t.Errorf("%q: %s, want %q", table, said.String(), want)
		}
	}
}
