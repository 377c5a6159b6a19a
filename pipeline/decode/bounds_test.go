package decode_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
)

// refused compares the messages about a file with want. If want is empty, the file must have no mistakes.
func refused(t *testing.T, text, want string) {
	t.Helper()
	spec, says := decodetest.Beside(t, text, map[string]string{"table.csv": deepened})
	if (spec == nil) != (want != "") || !strings.Contains(says, want) || want != "" && strings.Count(says, "Error: ") != 1 {
		t.Errorf("%s\nwant %q, got\n%s", text, want, says)
	}
}

const deepened = "scenario,a1,timeleft1,totaltime,acc\ngrows,0,8,10,0.5\ngrows,1,8,10,0.75\ngrows,2,8,10,0.6\n"

// For a network that is deepened in real training, the file must have a budget, blocks, and the dimensions of the
// table.
func TestNetworksThatAreDeepened(t *testing.T) {
	const file = `
experiment "e" {}
job "net" {
  PROGRAM
  BUDGET
}
hardware "here" {
  engine  = "ENGINE"
  threads = 2
}
adaptation "digits" {
  job       = job.net
  hardware  = hardware.here
  decisions = DECISIONS
  DECIDE
  scenario "SCENARIO" {
    changes {
      at      = "400ms"
      threads = 2
    }
  }
  controller "CONTROLLER" {}
}
`
	for _, c := range []struct{ at, with, want string }{
		{"", "", ""},
		{"ENGINE", "simulated", "there is no network to deepen"},
		{"BUDGET", "epochs = 3\n  malleable = true", "needs a budget"},
		{"BUDGET", "budget = \"0s\"\n  malleable = true", "there is no time for a decision"},
		{"BUDGET", "budget = \"2s\"", "needs malleable = true"},
		{"PROGRAM", "builtin \"softmax\" {}", "has no block to deepen"},
		{"PROGRAM", "builtin \"cnn\" {}", ""},
		{"PROGRAM", "builtin \"mlp\" { activation = \"tanh\" }", "is tanh"},
		{"PROGRAM", "command = [\"sh\"]", "has a command, so the adaptation needs blocks"},
		{"DECIDE", "blocks = 2", ""}, {"DECIDE", "blocks = 3", "has 2 blocks"},
		{"DECIDE", `decide = ["1s", "500ms"]`, "in ascending order"}, {"DECIDE", `decide = ["1s"]`, "decide has 1 time, but decisions is 2"},
		{"DECIDE", `decide = ["1s", "2s"]`, "no decision can be taken at 2s"}, {"DECIDE", `decide = ["1s", "1999ms"]`, ""},
		{"DECIDE", `table = "table.csv"`, `There is no column "a2"`},
		{"CONTROLLER", "best_constant", "reads a table"}, {"CONTROLLER", "random", ""},
		{"DECISIONS", "11", "are more than 100000 sequences"}, {"DECISIONS", "10", ""}, // 3¹⁰ = 59,049
	} {
		text := strings.NewReplacer(c.at, c.with, "PROGRAM", "builtin \"mlp\" { hidden = [32, 16] }", "BUDGET", "budget = \"2s\"\n  malleable = true",
			"ENGINE", "process", "DECISIONS", "2", "DECIDE", "", "SCENARIO", "grows", "CONTROLLER", "exhaustive").Replace(file)
		if strings.Contains(c.with, "table") { // one that is not made by this experiment
			text = strings.Replace(text, "exhaustive", "random", 1)
		}
		refused(t, text, c.want)
	}
	ofTable := strings.NewReplacer("PROGRAM", "builtin \"mlp\" { hidden = [32, 16] }", "BUDGET", "budget = \"2s\"\n  malleable = true",
		"ENGINE", "process", "DECISIONS", "1", "DECIDE", `table = "table.csv"`, "CONTROLLER", "best_constant").Replace(file)
	refused(t, strings.Replace(ofTable, "SCENARIO", "grows", 1), "")
	refused(t, strings.Replace(ofTable, "SCENARIO", "shrinks", 1), `Unknown scenario "shrinks"`)
	refused(t, strings.NewReplacer("SCENARIO", "grows", "[32, 16]", "[32]").Replace(ofTable),
		"The table has 1 decision between 3 actions, and the job 1 decision between 2")
	refused(t, strings.NewReplacer("SCENARIO", "grows", `"best_constant"`, `"exhaustive"`).Replace(ofTable), "nothing must be trained")
}
