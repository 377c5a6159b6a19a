package decode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tuning"
)

// refused compares the messages about a file with the wanted one: "" for a file without mistakes.
func refused(t *testing.T, text, want string) {
	t.Helper()
	spec, says := decodetest.Beside(t, text, map[string]string{"table.csv": deepened})
	if (spec == nil) != (want != "") || !strings.Contains(says, want) || want != "" && strings.Count(says, "Error: ") != 1 {
		t.Errorf("%s\nwant %q, got\n%s", text, want, says)
	}
}

const deepened = "scenario,a1,timeleft1,totaltime,acc\ngrows,0,8,10,0.5\ngrows,1,8,10,0.75\ngrows,2,8,10,0.6\n"

// The numbers of a search have bounds, and the bounds themselves are allowed.
func TestBoundsOfSearches(t *testing.T) {
	const search = `
experiment "e" {}
job "a" {
  builtin "mlp" {}
  epochs = EPOCHS
}
hardware "h" { engine = "process" }
tune "t" {
  job       = job.a
  objective = "OBJECTIVE"
  trials    = 3
  MORE
}
`
	for _, c := range []struct{ objective, epochs, more, want string }{
		{"time_to_accuracy", "2", "target = 1\nsetting \"batch\" { values = [16, 32] }", ""},
		{"time_to_accuracy", "2", "target = 0.5\nsetting \"batch\" { values = [16, 32] }", ""},
		{"time_to_accuracy", "2", "target = 0\nsetting \"batch\" { values = [16, 32] }", "An accuracy is above 0 and at most 1; this is 0"},
		{"time_to_accuracy", "2", "target = 1.5\nsetting \"batch\" { values = [16, 32] }", "An accuracy is above 0 and at most 1; this is 1.5"},
		{"time_to_loss", "2", "target = 1.5\nsetting \"batch\" { values = [16, 32] }", ""},
		{"accuracy", "each.n", "context \"n\" { values = [1, 3] }\nsetting \"batch\" { values = [16, 32] }", ""},
		{"accuracy", "each.n", "context \"n\" {\n values = [1, 3]\n at = 1\n}\nsetting \"batch\" { values = [16, 32] }", ""},
		{"accuracy", "each.n", "context \"n\" {\n values = [1, 3]\n at = 2\n}\nsetting \"batch\" { values = [16, 32] }", "at is 2, which is none"},
		{"accuracy", "each.n", "context \"n\" {\n min = 2\n max = 4\n at = 2\n}\nsetting \"batch\" { values = [16, 32] }", ""},
		{"accuracy", "each.n", "context \"n\" {\n min = 2\n max = 4\n at = 4\n}\nsetting \"batch\" { values = [16, 32] }", ""},
		{"accuracy", "each.n", "context \"n\" {\n min = 2\n max = 4\n at = 1\n}\nsetting \"batch\" { values = [16, 32] }", "at is 1, which is none"},
		{"accuracy", "each.n", "context \"n\" {\n min = 2\n max = 4\n at = 5\n}\nsetting \"batch\" { values = [16, 32] }", "at is 5, which is none"},
		{"accuracy", "2", "setting \"rate\" {\n min = 0.2\n max = 0.2\n}", ""},
		{"accuracy", "2", "setting \"rate\" {\n min = 0.3\n max = 0.2\n}", "there is no value between them"},
		{"accuracy", "2", "setting \"rate\" {\n min = 0\n max = 0.2\n log = true\n}", "min must be above 0; it is 0"},
		{"accuracy", "2", "setting \"batch\" {\n min = 1.5\n max = 1.7\n integer = true\n}", "There is no whole number from 1.5 to 1.7"},
		{"accuracy", "2", "constraint \"accuracy\" { min = 1 }\nsetting \"batch\" { values = [16, 32] }", ""},
		{"accuracy", "2", "constraint \"accuracy\" { min = 1.1 }\nsetting \"batch\" { values = [16, 32] }", "no trial satisfies min = 1.1"},
		{"accuracy", "2", "constraint \"time\" { max = 0 }\nsetting \"batch\" { values = [16, 32] }", ""},
		{"accuracy", "2", "constraint \"time\" { max = -1 }\nsetting \"batch\" { values = [16, 32] }", "The time is never below 0"},
		{"accuracy", "2", "constraint \"loss\" { max = -1 }\nsetting \"batch\" { values = [16, 32] }", ""},
		{"accuracy", "2", "constraint \"loss\" {\n min = 2\n max = 2\n}\nsetting \"batch\" { values = [16, 32] }", ""},
	} {
		text := strings.NewReplacer("OBJECTIVE", c.objective, "EPOCHS", c.epochs, "MORE", c.more).Replace(search)
		refused(t, strings.ReplaceAll(text, `"rate"`, `"learning_rate"`), c.want)
	}
}

// A network that is deepened in real training has a budget, blocks, and the table's own dimensions.
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
		{"DECIDE", `decide = ["1s", "500ms"]`, "one after another"}, {"DECIDE", `decide = ["1s"]`, "decide has 1 time, but decisions is 2"},
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
	refused(t, strings.NewReplacer("SCENARIO", "grows", `"best_constant"`, `"exhaustive"`).Replace(ofTable), "nothing has to be trained")
}

// Trials of another experiment's results count where they tried the same settings, at values that are known.
func TestTrialsOfResults(t *testing.T) {
	from := t.TempDir()
	accuracy := 0.5
	trial := func(cell string, outcome *record.TrialOutcome, tuning int, settings ...string) record.Cell {
		c := record.Cell{CellRef: record.CellRef{Cell: cell, Trial: &record.TrialRef{Tuning: tuning}}, Outcome: outcome, State: record.CellFinished}
		for i := 0; i < len(settings); i += 2 {
			c.Trial.Settings = append(c.Trial.Settings, record.Setting{Name: settings[i], Value: settings[i+1]})
		}
		return c
	}
	done := &record.TrialOutcome{Time: 3, Units: 2, Accuracy: &accuracy}
	cells := []record.Cell{
		trial("same", done, 0, "optimizer", "sgd", "batch", "16"), trial("value", done, 0, "batch", "16", "optimizer", "unheard"),
		trial("other", done, 0, "batch", "16", "rate", "1"), trial("fewer", done, 0, "batch", "16"),
		trial("more", done, 0, "batch", "16", "optimizer", "sgd", "rate", "1"), trial("none", nil, 0, "batch", "16", "optimizer", "sgd"),
		trial("changed", done, 1, "batch", "16", "optimizer", "sgd"), trial("number", done, 0, "batch", "17", "optimizer", "adam"),
	}
	write := func(name string, v any) {
		t.Helper()
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plan := record.Plan{Experiment: "e"}
	tuning.Asked.Set(&plan, []tuning.Tuning{{Name: "t"}, {Name: "u", Mode: tuning.Online}})
	for _, c := range cells {
		plan.Cells = append(plan.Cells, c.CellRef)
		write(filepath.Join(record.CellsDir, c.Cell, record.CellFile), c)
	}
	write(record.PlanFile, plan)
	write(record.RunFile, record.Run{})
	text := strings.NewReplacer("t.csv", from, "setting \"learning_rate\" {\n    min = 0.001\n    max = 0.1\n    MORE\n  }", "").Replace(searched)
	spec, says := decodetest.Beside(t, text, nil)
	if spec == nil {
		t.Fatal(says)
	}
	all := spec.Tunings[0].Imported
	if len(all) != 2 || all[0].Settings[0] != (record.Setting{Name: "batch", Value: "16"}) || all[0].Settings[1].Value != "sgd" ||
		all[1].Settings[0].Value != "17" || all[0].Outcome.Time != 3 || len(spec.Tunings[0].WarmStart) != 64 {
		t.Errorf("%+v", spec.Tunings[0])
	}
	if _, says := decodetest.Beside(t, strings.ReplaceAll(text, "batch", "epochs"), nil); !strings.Contains(says, "has 6 trials, none of them of the settings epochs, optimizer") {
		t.Errorf("of other settings: %s", says)
	}
}
