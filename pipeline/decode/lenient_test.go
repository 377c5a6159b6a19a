package decode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decode"
)

// A log of which no line could be read says why, also where malformed lines are left out.
func TestNoLineOfALogIsRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"log.csv": "submit,run\n0,soon\n1,later\n2,\n",
		"x.hcl": `experiment "x" {}
workload "w" {
  trace {
    file    = "log.csv"
    format  = "table"
    columns = { arrival = "submit", run_time = "run" }
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 1
}
policy "p" { order = "fcfs" }
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, diags := decode.File(filepath.Join(dir, "x.hcl"), decode.Options{Lenient: true})
	want := `log.csv, but 3 malformed lines: run: "soon" is not a time (2, first line 2); it has no run time`
	if got := fmt.Sprint(diags); !strings.Contains(got, want) {
		t.Errorf("%s, want one that says %q", got, want)
	}
}
