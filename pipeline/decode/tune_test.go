package decode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decodetest"
)

// searched is a search that begins with trials of a table.
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

// Trials that were made elsewhere count with their values in the table.
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
	for _, one := range spec.Tunings[0].Imported {
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
		if spec == nil || spec.Tunings[0].Settings[2].Initial != initial {
			t.Errorf("begins at %s: %s", initial, text)
		}
	}
}
