package search_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/results/record"
	_ "github.com/tfexp/tfexp/stages/all"
	"github.com/tfexp/tfexp/stages/tuning/search"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// searched is a search that begins with imported trials from a table.
const searched = `
experiment "e" {}
job "a" {
  builtin "mlp" {}
  epochs = 2
  runtime { epoch = "2s" }
}
hardware "h" {
  engine  = "simulated"
  threads = 8
}
tune "t" {
  job        = job.a
  objective  = "throughput"
  trials     = 3
  warm_start = "t.csv"
  setting "batch" { values = [16, 32] }
  setting "optimizer" { values = ["sgd", "adam"] }
  setting "learning_rate" {
    min = 0.001
    max = 0.1
    MORE
  }
}
`

// Imported trials have the values in the table.
func TestImportedTrials(t *testing.T) {
	const head = "batch,optimizer,learning_rate,time_s,loss,accuracy,cost,reached_s,units,state\n"
	spec, text := decodetest.Beside(t, strings.Replace(searched, "MORE", "", 1), map[string]string{"t.csv": head +
		"16,sgd,0.01,10,0.5,,,,,\n32,adam,0.1,20, 0.25,0.9,3,7,4,done\n16,adam,0.1,5,,,,,2,crashed\n32,sgd,0.02,,0.1,,,,,\n"})
	if spec == nil {
		t.Fatal(text)
	}
	show := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	var got []string
	for _, one := range search.Of(spec)[0].Imported {
		line, o := "", one.Outcome
		for _, s := range one.Settings {
			line += s.Name + "=" + s.Value + " "
		}
		got = append(got, line+fmt.Sprint(o.Time, " s, ", o.Units, " units, ", show(o.Loss), " ", show(o.Accuracy), " ", show(o.Cost), " ",
			show(o.Reached), " ", o.Crashed))
	}
	want := []string{
		"batch=16 optimizer=sgd learning_rate=0.01 10 s, 1 units, 0.5 - - - ",
		"batch=32 optimizer=adam learning_rate=0.1 20 s, 4 units, 0.25 0.9 3 7 ",
		"batch=16 optimizer=adam learning_rate=0.1 0 s, 0 units, - - - - it crashed when it was measured",
		"batch=32 optimizer=sgd learning_rate=0.02 0 s, 0 units, 0.1 - - - it has no time",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, c := range []struct{ table, more, want string }{
		{"batch,optimizer,time_s\n16,sgd,1\n", "", `there is no column for the setting "learning_rate"`},
		{"batch,optimizer,learning_rat,time_s\n16,sgd,1,1\n", "", `is "learning_rat" meant?`},
		{"batch,optimizer,learning_rate\n16,sgd,1\n", "", "there is no column time_s"},
		{head + "many,sgd,0.01,10,0.5,,,,,\n", "", `batch is "many", which is not a number`},
		{head + "16,rmsprop,0.01,10,0.5,,,,,\n", "", `optimizer is "rmsprop", which is none of the setting's values`},
		{head + "16,sgd,fast,10,0.5,,,,,\n", "", `learning_rate is "fast", which is not a number`},
		{head + "16,sgd,0.01,NaN,0.5,,,,,\n", "", `time_s is "NaN", which is not a number`},
		{head + "16,sgd,0.01,Inf,0.5,,,,,\n", "", `time_s is "Inf", which is not a number`},
		{head + "16,sgd,0.01,1,low,,,,,\n", "", `loss is "low", which is not a number`},
		{head + "16,sgd,0.01,-3,0.5,,,,,\n", "", "time_s is -3"},
		{head + "16,sgd,0.01,1,0.5,93,,,,\n", "", "accuracy is 93"},
		{head + "16,sgd,0.01,1,0.5,0.9,-1,,,\n", "", "cost is -1"},
		{strings.Replace(head, "units", "time_s", 1) + "16,sgd,0.01,1,0.5,0.9,1,,2,\n", "", `two columns "time_s"`},
		{head + "16,sgd,0.01,1,,,,,,\n", "initial = 0.2", "initial is 0.2, outside the range from 0.001 to 0.1"},
		{head + "16,sgd,0.01,1,,,,,,\n", "initial = 0.0005", "initial is 0.0005, outside the range from 0.001 to 0.1"},
	} {
		spec, text := decodetest.Beside(t, strings.Replace(searched, "MORE", c.more, 1), map[string]string{"t.csv": c.table})
		if spec != nil || !strings.Contains(strings.ToLower(text), strings.ToLower(c.want)) || strings.Count(text, "Error: ") != 1 {
			t.Errorf("%q %s: want %q, got\n%s", c.table, c.more, c.want, text)
		}
	}
	for _, initial := range []string{"0.001", "0.1"} {
		spec, text := decodetest.Beside(t, strings.Replace(searched, "MORE", "initial = "+initial, 1),
			map[string]string{"t.csv": head + "16,sgd,0.01,1,,,,,,\n"})
		if spec == nil || search.Of(spec)[0].Settings[2].Initial != initial {
			t.Errorf("begins at %s: %s", initial, text)
		}
	}
}

// Trials of another experiment are imported if they have the same settings, with values that the search allows.
func TestTrialsOfResults(t *testing.T) {
	from := t.TempDir()
	accuracy := 0.5
	cell := func(name string, outcome *trial.Outcome, tuning int, settings ...string) record.Cell {
		ref := &trial.Ref{Tuning: tuning}
		c := record.Cell{CellRef: record.CellRef{Cell: name, Beyond: record.NewFeatureValue(ref)}, State: record.CellFinished}
		for i := 0; i < len(settings); i += 2 {
			ref.Settings = append(ref.Settings, record.Setting{Name: settings[i], Value: settings[i+1]})
		}
		if outcome != nil {
			c.Outcome = record.NewFeatureValue(outcome)
		}
		return c
	}
	done := &trial.Outcome{Time: 3, Units: 2, Accuracy: &accuracy}
	cells := []record.Cell{
		cell("same", done, 0, "optimizer", "sgd", "batch", "16"), cell("value", done, 0, "batch", "16", "optimizer", "unheard"),
		cell("other", done, 0, "batch", "16", "rate", "1"), cell("fewer", done, 0, "batch", "16"),
		cell("more", done, 0, "batch", "16", "optimizer", "sgd", "rate", "1"), cell("none", nil, 0, "batch", "16", "optimizer", "sgd"),
		cell("changed", done, 1, "batch", "16", "optimizer", "sgd"), cell("number", done, 0, "batch", "17", "optimizer", "adam"),
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
	trial.Asked.Set(&plan, []trial.Tuning{{Name: "t"}, {Name: "u", Mode: trial.Online}})
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
	all := search.Of(spec)[0].Imported
	if len(all) != 2 || all[0].Settings[0] != (record.Setting{Name: "batch", Value: "16"}) || all[0].Settings[1].Value != "sgd" ||
		all[1].Settings[0].Value != "17" || all[0].Outcome.Time != 3 || len(search.Of(spec)[0].WarmStart) != 64 {
		t.Errorf("%+v", search.Of(spec)[0])
	}
	if _, says := decodetest.Beside(t, strings.ReplaceAll(text, "batch", "epochs"), nil); !strings.Contains(says, "has 6 trials, but none has the settings epochs, optimizer") {
		t.Errorf("of other settings: %s", says)
	}
}

// Numbers in a tune block have bounds; the bounds themselves are allowed.
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
		{"time_to_accuracy", "2", "target = 0\nsetting \"batch\" { values = [16, 32] }", "An accuracy must be above 0 and at most 1; this is 0"},
		{"time_to_accuracy", "2", "target = 1.5\nsetting \"batch\" { values = [16, 32] }", "An accuracy must be above 0 and at most 1; this is 1.5"},
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
		spec, says := decodetest.Beside(t, strings.ReplaceAll(text, `"rate"`, `"learning_rate"`), nil)
		if (spec == nil) != (c.want != "") || !strings.Contains(says, c.want) || c.want != "" && strings.Count(says, "Error: ") != 1 {
			t.Errorf("%s\nwant %q, got\n%s", text, c.want, says)
		}
	}
}
