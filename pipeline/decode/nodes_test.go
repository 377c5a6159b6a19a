package decode_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
)

const manyNodes = `
experiment "e" {}
job "a" {
  builtin "mlp" { SETTING }
  epochs  = 2
  threads = THREADS
  nodes   = 2
  runtime { epoch = "2s" }
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine = "simulated"
  node "n" {
    count   = 2
    threads = 4
  }
}
policy "p" {
  order = "fcfs"
  nodes = "any"
}
`

// A request with an invalid value is not also reported as uneven, whether or not the program has mistakes.
func TestUnevenRequests(t *testing.T) {
	for _, c := range []struct{ setting, threads, want string }{
		{"", "4", ""}, {"", "3", "3 threads cannot be divided evenly over 2 nodes."},
		{"", "-3", "at least 1"}, {"hidden = [-1]", "3", "at least 1"}, {"hidden = [-1]", "-3", "at least 1"},
	} {
		spec, text := decodetest.Beside(t, strings.NewReplacer("SETTING", c.setting, "THREADS", c.threads).Replace(manyNodes), nil)
		wrong := 0
		for _, bad := range []string{c.setting, c.threads} {
			if strings.Contains(bad, "-") {
				wrong++
			}
		}
		if c.want != "" && wrong == 0 {
			wrong = 1
		}
		if (spec == nil) != (c.want != "") || !strings.Contains(text, c.want) || strings.Count(text, "Error: ") != wrong {
			t.Errorf("%s, %s threads: want %d errors with %q, got\n%s", c.setting, c.threads, wrong, c.want, text)
		}
	}
}
