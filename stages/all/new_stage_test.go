package all_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
	_ "github.com/tfexp/tfexp/stages/all"
)

// fastest is a new stage: a table of the cells with the shortest makespans in each replicate, and a section of the
// report. A stage needs only such a file.
func init() {
	stages.Register(&stages.Stage{
		Name:   "fastest",
		Reads:  []stages.Artifact{stages.Tables, "reminders"},
		Writes: []stages.Artifact{"fastest", stages.Sections},
		Files:  []string{fastest.File},
		Block: &schema.Block{
			Name: "fastest", Single: true, Doc: "The cells with the shortest makespans.",
			Example: "fastest { places = 2 }",
			Args: []schema.Arg{{
				Name: "places", Type: schema.Integer, Default: `1`, Min: schema.Limit(1),
				Doc: "How many cells of each replicate are listed.", Example: `3`,
			}},
		},
		Key: func(*stages.Run) ([]stages.KeyLine, error) {
			return []stages.KeyLine{{Label: "fastest", Value: "1"}}, nil
		},
		Idle:   func(r *stages.Run) bool { return places(r.Settings("fastest")) == idlePlaces },
		Always: true,
		Run:    writeFastest,
	})
	stages.Register(&stages.Stage{
		Name:   "remind",
		Writes: []stages.Artifact{"reminders"},
		Files:  []string{"reminder.txt"},
		Pieces: &stages.PieceStore{
			Title: "reminders", Noun: "reminder", Earlier: "written earlier",
			List: func(p stages.Planning) ([]stages.Piece, error) {
				return []stages.Piece{{
					Name: "places", Key: fmt.Sprintf("places %d\n", places(p.Settings("fastest"))), Text: "of the places", Count: 1,
				}}, nil
			},
			Find: func(_ stages.Planning, _ stages.Piece, kept []byte) bool { return kept != nil },
		},
		Run: remind,
	})
}

// fastestRow is a row of the stage's table.
type fastestRow struct {
	Replicate int     `csv:"replicate"`
	Cell      string  `csv:"cell"`
	Makespan  float64 `csv:"makespan_s"`
}

var fastest = table.Register[fastestRow]("fastest.csv", nil)

// Its section is made from the rows of its table.
var _ = analysis.Register(analysis.Part{
	Name: "fastest", Title: "The fastest cells", InReport: analysis.Verdicts + 200, OnTerminal: analysis.Verdicts + 200,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rows, err := fastest.Read(e.Dir)
		if err != nil || len(rows) == 0 {
			return s, err
		}
		t := table.New(1, "cell", "makespan (s)")
		for _, r := range rows {
			t.Add(r.Cell, table.Number(r.Makespan))
		}
		said := table.Item{Sentences: []string{"A short makespan is a full machine."}}
		return table.Section{Report: []table.Item{said, {Table: t}}, Terminal: []table.Item{said}}, nil
	},
})

// idlePlaces is a number of places for which the stage has nothing to do.
const idlePlaces = 1000

func places(blocks []schema.Settings) int { return schema.Get[int](blocks[0], "places") }

// remind is a stage that stores its work in pieces: it writes the missing pieces of the plan.
func remind(_ context.Context, r *stages.Run) error {
	for _, p := range r.PlannedPieces("remind") {
		if !p.Make {
			continue
		}
		if err := os.WriteFile(filepath.Join(r.Dir, "reminder.txt"), []byte(p.Key), 0o644); err != nil {
			return err
		}
		if err := r.KeepPiece("remind", p.Piece, []byte(p.Key), 0); err != nil {
			return err
		}
	}
	return nil
}

func writeFastest(_ context.Context, r *stages.Run) error {
	e, err := record.Open(r.Dir)
	if err != nil {
		return err
	}
	var rows []fastestRow
	for i := range r.Plan.Replicates {
		var best []fastestRow
		for _, c := range e.Cells {
			if c.Replicate == i+1 {
				best = append(best, fastestRow{c.Replicate, c.Cell, measure.Makespan.Of(&c.Metrics)})
			}
		}
		slices.SortStableFunc(best, func(a, b fastestRow) int { return cmp.Compare(a.Makespan, b.Makespan) })
		rows = append(rows, best[:min(len(best), places(r.Settings("fastest")))]...)
	}
	r.Made(r.Plan.Replicates)
	return fastest.Replace(r.Dir, rows)
}

const file = `
experiment "small" { replicates = 2 }
job "j" {
  command = ["train"]
  epochs  = 4
  runtime { epoch = exponential("1s") }
}
workload "w" {
  submit {
    job   = job.j
    count = 5
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
`

// plan reads an experiment and plans it.
func plan(t *testing.T, source string, opts pipeline.Options) *pipeline.Plan {
	t.Helper()
	spec, diags := decode.Source("small.hcl", []byte(source),
		decode.Options{Host: experiments.HostFacts{Threads: 2, Cores: 2}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := pipeline.New(spec, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs an experiment and returns the stage's progress reports.
func run(t *testing.T, source, out string) (seen []stages.Progress) {
	t.Helper()
	p := plan(t, source, pipeline.Options{Out: out, Observe: func(p stages.Progress) {
		if p.Stage == "fastest" {
			seen = append(seen, p)
		}
	}})
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return seen
}

// journal returns how the stage ended in each run.
func journal(t *testing.T, out string) (states []string) {
	t.Helper()
	entries, err := history.ReadJournal(filepath.Join(out, "small"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Event == "stage_end" && e.Unit == "fastest" {
			states = append(states, e.State)
		}
	}
	return states
}

// A new stage runs after its inputs, appears in progress reports and in the journal, and writes its file. It runs again
// only if its dependencies change.
func TestNewStage(t *testing.T) {
	out := t.TempDir()
	seen := run(t, file, out)
	if len(seen) != 2 || seen[0].Kind != stages.StageStart || seen[1].Kind != stages.StageEnd || seen[1].Done != 2 {
		t.Errorf("progress: %+v", seen)
	}
	path := filepath.Join(out, "small", "fastest.csv")
	raw, err := os.ReadFile(path)
	if err != nil || !regexp.MustCompile(`^replicate,cell,makespan_s\n1,w-h-fcfs-r1,\d+\.\d+\n2,w-h-fcfs-r2,\d+\.\d+\n$`).Match(raw) {
		t.Fatalf("%s %v", raw, err)
	}
	if seen := run(t, file, out); len(seen) != 0 {
		t.Errorf("nothing has changed, and it runs: %+v", seen)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	run(t, file, out)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("its file did not come back: %v", err)
	}
	run(t, strings.Replace(file, "epochs  = 4", "epochs  = 5", 1), out)
	if got, want := journal(t, out), []string{"finished", "reused", "finished", "finished"}; !slices.Equal(got, want) {
		t.Errorf("the stage ended as %v, want %v", got, want)
	}
}

// A stage with nothing to do is not shown, but still runs once to remove the files of an earlier run.
func TestIdleStage(t *testing.T) {
	out := t.TempDir()
	idle := file + fmt.Sprintf("fastest { places = %d }", idlePlaces)
	for range 2 {
		if seen := run(t, idle, out); len(seen) != 0 {
			t.Errorf("it has nothing to do, and is seen: %+v", seen)
		}
	}
	if got, want := journal(t, out), []string{"finished", "reused"}; !slices.Equal(got, want) {
		t.Errorf("the stage ended as %v, want %v", got, want)
	}
}

// The block of a new stage is part of the language: its arguments, their bounds, errors for unknown names, and the
// reference.
func TestBlockOfANewStage(t *testing.T) {
	for block, want := range map[string]string{
		"fastest { placos = 2 }": "Unknown argument",
		"fastest { places = 0 }": "at least 1",
		"fastets { places = 2 }": "Unknown block",
		"fastest {}\nfastest {}": "fastest",
	} {
		_, diags := decode.Source("small.hcl", []byte(file+block), decode.Options{})
		if !diags.HasErrors() || !strings.Contains(fmt.Sprint(diags), want) {
			t.Errorf("%s: %v, want an error with %q", block, diags, want)
		}
	}
	reference := string(decodetest.LanguageReference())
	for _, want := range []string{"\n### fastest\n", "The cells with the shortest makespans.",
		"- `places` (integer, default `1`): "} {
		if !strings.Contains(reference, want) {
			t.Errorf("the reference lacks %q", want)
		}
	}
}

// The values of the block reach the stage and are part of its key. Its section is in the report.
func TestSettingsAndSectionOfANewStage(t *testing.T) {
	out := t.TempDir()
	two := strings.Replace(file, `policy "fcfs" { order = "fcfs" }`,
		"policy \"fcfs\" { order = \"fcfs\" }\npolicy \"sjf\" { order = \"sjf\" }\n", 1)
	run(t, two, out)
	run(t, two+"fastest { places = 1 }\n", out) // the default
	run(t, two+"fastest { places = 2 }\n", out)
	if got, want := journal(t, out), []string{"finished", "reused", "finished"}; !slices.Equal(got, want) {
		t.Errorf("the stage ended as %v, want %v", got, want)
	}
	raw, err := os.ReadFile(filepath.Join(out, "small", "fastest.csv"))
	if err != nil || strings.Count(string(raw), "\n") != 5 {
		t.Errorf("%s %v, want two cells of each replicate", raw, err)
	}
	page, err := os.ReadFile(filepath.Join(out, "small", record.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<details id=\"fastest\"><summary>The fastest cells</summary>",
		"A short makespan is a full machine.",
		"<th scope=\"row\">w-h-sjf-r2</th>"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

// The pieces of a new stage are planned with a reason, made once, and found again.
func TestPiecesOfANewStage(t *testing.T) {
	out := t.TempDir()
	reason := func(source string) string {
		p := plan(t, source, pipeline.Options{Out: out})
		w := p.Pieces[len(p.Pieces)-1]
		return fmt.Sprintf("%s %s %s: %v, %s", w.Stage.Name, w.Name, w.Text, w.Reuse, w.Reason)
	}
	if got, want := reason(file), "remind places of the places: false, new"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run(t, file, out)
	if got, want := reason(file), "remind places of the places: true, written earlier"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := reason(file+"fastest { places = 3 }\n"), "remind places of the places: false, places "+
		"changed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run(t, file+"fastest { places = 3 }\n", out)
	if raw, err := os.ReadFile(filepath.Join(out, "small", "reminder.txt")); err != nil || string(raw) != "places 3\n" {
		t.Errorf("%q %v", raw, err)
	}
}
