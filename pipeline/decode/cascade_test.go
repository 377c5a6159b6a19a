package decode_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
)

// outsized is an experiment whose job is too large for its hardware. This is reported only if the job can be read.
const outsized = `
experiment "e" {}
job "a" {
  PROGRAM
  epochs  = 4
  threads = 9
  RUNTIME
  CHECKPOINT
}
workload "w" {
  submit {
    job   = job.a
    count = 2
  }
  RESIZE
}
hardware "h" {
  engine  = "simulated"
  threads = 4
  MORE
}
policy "p" { order = "fcfs" }
`

// If a mistake makes a value unreadable, the value and references to it are not checked. So one mistake gives one
// message.
func TestOneMistakeIsOneMessage(t *testing.T) {
	standard := []string{"PROGRAM", `command = ["x"]`, "RUNTIME", `runtime { epoch = "1s" }`, "CHECKPOINT", "", "RESIZE", "", "MORE", ""}
	for _, c := range []struct{ at, with, want string }{
		{"MORE", "", "threads"}, // as it is
		{"PROGRAM", `builtin "mlp" { batch = -1 }`, "batch must be"},
		{"PROGRAM", `builtin "mlp" { bath = 1 }`, `no argument "bath"`},
		{"PROGRAM", `command = []`, "command"},
		{"RUNTIME", `runtime { epoch = "1" }`, "epoch is"},
		{"RUNTIME", `runtime { epok = "1s" }`, `no argument "epok"`},
		{"CHECKPOINT", `checkpoint { every = "0s" }`, "every"},
		{"CHECKPOINT", `checkpoint { every = 5 }`, "every is 5"}, // there are four epochs
		{"RESIZE", "resize {\n at = \"1\"\n job = \"a-1\"\n threads = 1\n}", "at is"},
		{"RESIZE", "resize {\n at = \"1s\"\n job = \"a-3\"\n threads = 1\n}", "a-3"},
		{"MORE", `overheads { start = "1" }`, "start is"},
		{"MORE", `contention { capacity = -1 }`, "capacity must be"},
		{"MORE", `noise = -1`, "noise must be"},
		{"RUNTIME", "runtime { epoch = \"1\" }\n}\njob \"b\" {\ncommand = [\"x\"]\nepochs = 1", "epoch is"}, // another job is unread
	} {
		replace := append([]string{c.at, c.with}, standard...)
		if c.at != "RESIZE" && c.at != "MORE" { // a job that is right could not be resized either
			replace = append([]string{"RESIZE", "resize {\n at = \"1s\"\n job = \"a-1\"\n threads = 1\n}", "MORE", `lacks = ["resize"]`},
				replace...)
		}
		_, text := decodetest.Beside(t, strings.NewReplacer(replace...).Replace(outsized), nil)
		if strings.Count(text, "Error: ") != 1 || !strings.Contains(text, c.want) {
			t.Errorf("%s: want one error with %q:\n%s", c.with, c.want, text)
		}
	}
}
