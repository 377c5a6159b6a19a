package decode_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/scheduler"
	_ "github.com/tfexp/tfexp/stages/all"
	"github.com/tfexp/tfexp/stages/experiment"
)

const recorded = `
experiment "e" {}
job "a" {
  command = ["x"]
  epochs  = 1
  runtime { epoch = "1s" }
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine  = "replayed"
  threads = 2
  tape    = 7
}
policy "p" { order = "fcfs" }
`

// If something is registered after the program has started, it is part of the language: its name, its arguments and
// their types, suggestions, and the reference.
func TestWhatIsRegisteredIsInTheLanguage(t *testing.T) {
	file := func(edit ...string) (*experiment.Spec, experiments.Diagnostics) {
		return decode.Source("e.hcl", []byte(strings.NewReplacer(edit...).Replace(recorded)), decode.Options{})
	}
	if _, diags := file(); !diags.HasErrors() {
		t.Fatal("an engine that is not registered is accepted")
	}
	engine.Register(&engine.Kind{
		Name: "replayed", Rank: 1000, Doc: "plays back a recording",
		Args: []schema.Arg{{
			Name: "tape", Type: schema.Integer, Min: schema.Limit(1), Doc: "The number of the tape.", Example: `7`,
		}},
		Capabilities: func(*engine.Hardware) scheduler.Capabilities { return scheduler.Capabilities{Pause: true} },
		Simulate:     func(s engine.Simulation) (scheduler.Engine, error) { return s.Standard() },
	})
	spec, diags := file()
	if diags.HasErrors() {
		t.Fatalf("%v", diags)
	}
	if h := spec.Cells[0].Hardware; h.Engine != "replayed" {
		t.Errorf("the engine is %q", h.Engine)
	}
	for _, c := range []struct{ name, old, wrong, summary, suggestion string }{
		{"a slip in its name", `"replayed"`, `"replaied"`, `Unknown engine "replaied"`, "replayed"},
		{"a slip in its argument", "tape ", "tabe ", "Unknown argument", "tape"},
		{"a value out of its bounds", "= 7", "= 0", "Value out of range", ""},
		{"its argument on another engine", `"replayed"`, `"simulated"`, "Unused argument", ""},
	} {
		_, diags := file(c.old, c.wrong)
		if len(diags) != 1 || diags[0].Summary != c.summary || diags[0].Suggestion != c.suggestion {
			t.Errorf("%s: %v", c.name, diags)
		}
	}
	if a := schema.Find(decode.Language().Block("hardware").Args, "engine"); !strings.Contains(a.Meanings, "`replayed`: plays back a recording") {
		t.Errorf("the engines are described as %q", a.Meanings)
	}
	if want := "Only on `replayed`:\n\n- `tape` (integer): The number of the tape.\n"; !strings.Contains(string(decodetest.LanguageReference()), want) {
		t.Errorf("the reference does not have %q", want)
	}
}
