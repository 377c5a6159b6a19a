package adaptation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	"github.com/tfexp/tfexp/stages/steering"
)

// world is an experiment whose trainings take no time. It is also the pipeline of the stages, and records their calls.
type world struct {
	stages.Experiment
	stages.Sampling
	stages.PastRuns
	stages.CellQueue
	stages.Shards
	stages.CellFolders
	stages.Pieces
	stages.Engines
	stages.Log
	t       *testing.T
	studies []*deepening.Study
	// train returns the result of the training with the given name; nil if it must not begin. Existing results remain.
	train    func(name string) (record.Cell, []steering.Row)
	keys     map[string]string // of the trainings that were asked for
	warnings []string
	observed []stages.Progress
}

// File has a point for each scenario of each study.
func (w *world) File() *experiment.Spec {
	spec := &experiment.Spec{}
	job := experiment.Submit{Job: &experiment.Job{Epochs: 1}}
	for i, s := range w.studies {
		var points []experiment.Cell
		for k := 0; s.Real != nil && k < len(s.Real.Scenarios); k++ {
			of := &experiment.Workload{Name: fmt.Sprint(i, " ", k), Submits: []experiment.Submit{job}}
			points = append(points, experiment.Cell{Workload: of})
		}
		spec.Parts = append(spec.Parts, &Block{Study: s, Cells: points})
	}
	return spec
}

func (w *world) Warn(code, cell, text string) { w.warnings = append(w.warnings, code+": "+text) }
func (w *world) Observe(p stages.Progress)    { w.observed = append(w.observed, p) }
func (w *world) Site(string) engine.Session   { return nowhere{} }

// Beyond writes the result of a training, with its key.
func (w *world) Beyond(point experiment.Cell, name string, depends []stages.KeyLine, t stages.Folders) (stages.Task, string, error) {
	if depends[0].Label != "deepening" {
		w.t.Errorf("%s depends on %v", name, depends)
	}
	key := fmt.Sprintf("%s %s %v", point.Workload.Name, name, depends[1:])
	w.keys[name] = key
	if _, err := os.Stat(t.Dir); err != nil && w.train != nil {
		cell, decisions := w.train(name)
		leave(w.t, t.Dir, cell, log, decisions...)
		if err := os.WriteFile(filepath.Join(t.Dir, keyFile), []byte(key), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	task := stages.Task{Folders: t, Logs: filepath.Join(t.Dir, "logs")}
	task.Hardware.Kind = "nowhere"
	return task, key, nil
}

func init() {
	engine.Register(&engine.Kind{
		Name: "nowhere", Doc: "starts nothing", Traits: engine.Traits{Real: true},
		Capabilities: func(*engine.Hardware) scheduler.Capabilities { return scheduler.Capabilities{} },
		Open:         func(engine.Run) (engine.Session, []string, error) { return nowhere{}, nil, nil },
	})
}

// nowhere is an engine that runs nothing.
type nowhere struct{ engine.Session }

var errNowhere = errors.New("there is no machine")

func (nowhere) Engine(context.Context, engine.Task) (engine.Engine, error) { return nil, errNowhere }
func (nowhere) Local(*engine.Hardware) bool                                { return false }
func (nowhere) Close() error                                               { return nil }

// actionsOf returns the actions in the last part of a name: "1 0" for "net-late/1-0".
func actionsOf(name string) string {
	return strings.ReplaceAll(name[strings.Index(name, "/")+1:], "-", " ")
}

// finely returns a training that ends with an accuracy, after decisions with the given actions.
func finely(accuracy float64, actions string) (record.Cell, []steering.Row) {
	var rows []steering.Row
	for i, a := range strings.Fields(actions) {
		rows = append(rows, steering.Row{Job: "net-1", Used: 1 + float64(i), Left: 2 - float64(i),
			Probabilities: map[string]string{"0": "0.75 0.25", "1": "0.25 0.75"}[a]})
	}
	return finished(accuracy), rows
}

// two returns an adaptation of two scenarios, with two decisions on one block. The accuracies of its trainings differ.
func two(t *testing.T) (*world, *stages.Run) {
	w := &world{t: t, keys: map[string]string{}, studies: []*deepening.Study{
		{Name: "recorded"},
		{Name: "net", Seeds: 2, Real: &deepening.RealTrainings{
			Scenarios: []deepening.Scenario{{Name: "early"}, {Name: "late"}}, Decisions: 2, Blocks: 1, Budget: 3 * time.Second,
			Exhaustive: true, Repeats: 2,
		}},
	}}
	w.train = func(name string) (record.Cell, []steering.Row) {
		of100, better := 50, 1 // in one scenario deepening is better, in the other it is worse
		if strings.Contains(name, "late") {
			of100, better = 60, -1
		}
		for i, a := range strings.Fields(actionsOf(name)) {
			if a == "1" {
				of100 += better * (i + 1)
			}
		}
		return finely(float64(of100)/100, actionsOf(name))
	}
	return w, &stages.Run{Dir: t.TempDir(), Experiment: w, Sampling: w, PastRuns: w,
		CellQueue: w, Shards: w, CellFolders: w, Pieces: w, Engines: w, Log: w}
}

// TestEverySequence: the table has a row for each sequence in each scenario, in their order; the plan has a piece
// for each scenario, which exists when all of its trainings do.
func TestEverySequence(t *testing.T) {
	w, r := two(t)
	if err := trainAllSequences(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	raw, err := folder.ReadFile(r.Dir, TableFile)
	if err != nil {
		t.Fatal(err)
	}
	const want = `scenario,a1,a2,timeleft1,timeleft2,totaltime,acc
early,0,0,2.0000,1.0000,3,0.5
early,0,1,2.0000,1.0000,3,0.52
early,1,0,2.0000,1.0000,3,0.51
early,1,1,2.0000,1.0000,3,0.53
late,0,0,2.0000,1.0000,3,0.6
late,0,1,2.0000,1.0000,3,0.58
late,1,0,2.0000,1.0000,3,0.59
late,1,1,2.0000,1.0000,3,0.57
`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
	if got := w.studies[1].ScenarioNames(); w.studies[1].Tables == nil || !slices.Equal(got, []string{"early", "late"}) {
		t.Errorf("controllers can learn on %v", got)
	}
	if len(w.warnings) > 0 || len(w.observed) > 0 {
		t.Errorf("all was there, and yet: %v, %v", w.warnings, w.observed)
	}
	lines, err := leftTables(r)
	if err != nil || len(lines) != 1 || lines[0].Label != "trained.net" ||
		lines[0].Value != "table "+w.studies[1].Digest {
		t.Errorf("the stage left %v, %v", lines, err)
	}

	p := stages.Planning{Dir: r.Dir, Experiment: w}
	pieces, err := listTrainings(p)
	if err != nil || len(pieces) != 2 {
		t.Fatalf("pieces %v, %v", pieces, err)
	}
	if got := pieces[1]; got.Name != "net-late" || got.Count != 4 || got.Key != w.keys["net-late/0-0"] ||
		got.Text != "all 4 sequences of net in late, 3s each" {
		t.Errorf("the second piece is %+v", got)
	}
	w.train = nil
	if err := os.RemoveAll(filepath.Join(r.Dir, TrainingsDir, "net-late", "1-0")); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		if got := findTrainings(p, pieces[i], nil); got != want {
			t.Errorf("%s is there: %v", pieces[i].Name, got)
		}
		if findTrainings(p, pieces[i], []byte("kept")) {
			t.Errorf("%s is there because the cache says so", pieces[i].Name)
		}
	}
	if findTrainings(p, stages.Piece{Name: "net-never"}, nil) {
		t.Error("the trainings of a scenario that there is not are there")
	}
	w.studies[1].Real.Exhaustive = false
	if pieces, err := listTrainings(p); err != nil || len(pieces) > 0 {
		t.Errorf("without the table there is to be made: %v, %v", pieces, err)
	}
	if err := trainAllSequences(t.Context(), r); err != nil || len(w.observed) > 0 {
		t.Errorf("without the table: %v, %v", err, w.observed)
	}
}

// TestOneTrainingIsMissing: existing trainings are reused, and the error of the missing one ends the stage.
func TestOneTrainingIsMissing(t *testing.T) {
	w, r := two(t)
	whole := w.train
	w.train = func(name string) (record.Cell, []steering.Row) {
		if name == "net-early/1-1" {
			return record.Cell{State: record.CellFailed}, nil
		}
		return whole(name)
	}
	if err := trainAllSequences(t.Context(), r); !errors.Is(err, errNowhere) || !strings.Contains(err.Error(),
		"net-early/1-1") {
		t.Fatalf("error %v", err)
	}
	var seen []string
	for _, p := range w.observed {
		seen = append(seen, fmt.Sprint(p.Kind, " ", p.Stage, " ", p.Unit, " ", p.Done, "/", p.Total, " ", p.Reused, " ", p.Left,
			" ", p.Err != nil))
	}
	want := []string{
		fmt.Sprint(stages.StageStart, " deepen  7/8 7 3s false"),
		fmt.Sprint(stages.UnitStart, " deepen net-early/1-1 3/8 3 15s false"),
		fmt.Sprint(stages.StageEnd, " deepen  3/8 3 15s true"),
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := trainAllSequences(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interruption: %v", err)
	}
}

// TestPoorTrainings: if the budget ends before the decisions, or a training reports no accuracy, there is a warning.
func TestPoorTrainings(t *testing.T) {
	w, r := two(t)
	whole := w.train
	w.train = func(name string) (record.Cell, []steering.Row) {
		switch cell, rows := whole(name); {
		case strings.Contains(name, "early"):
			return cell, rows[:1]
		case strings.HasSuffix(name, "0-1"):
			return finely(math.NaN(), "0 1")
		default:
			return cell, rows
		}
	}
	if err := trainAllSequences(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if len(w.warnings) != 2 || w.studies[1].Tables != nil {
		t.Fatalf("warnings %q", w.warnings)
	}
	for i, want := range []string{
		"few_decisions: in 4 of 8 trainings of net the budget ended before all decisions were taken",
		"incomplete_table: 1 of 8 trainings of net failed (its program reported no accuracy), so nothing can learn on its " +
			"table: ",
	} {
		if !strings.HasPrefix(w.warnings[i], want) {
			t.Errorf("warning %q, want %q", w.warnings[i], want)
		}
	}
}

// TestControllersDecide: each controller decides in each scenario as often as the block says. It gets the tables of the
// other scenarios, and the trainings that it tries are counted.
func TestControllersDecide(t *testing.T) {
	w, r := two(t)
	net := w.studies[1]
	net.Controllers = []*deepening.Controller{
		{Name: "exhaustive", Kind: "exhaustive"},
		{Name: "always one", Kind: "constant", Sequence: []int{1, 1}},
		{Name: "elsewhere", Kind: "best_elsewhere", Runs: 3},
	}
	if err := trainAllSequences(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	known := w.train
	w.train = func(name string) (record.Cell, []steering.Row) {
		if strings.HasPrefix(actionsOf(name), "always") {
			return finely(.7, "1 1")
		}
		if strings.HasPrefix(actionsOf(name), "elsewhere") {
			return finely(.8, "0 1")
		}
		return known(name)
	}
	if err := decideInTrainings(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range net.Chosen {
		got = append(got, fmt.Sprint(c.Controller.Name, " ", c.Scenario, " ", c.Seed, ": ",
			deepening.FormatSequence(c.Actions()), ", ",
			c.Runs, " runs, ", c.Accuracy, ", ", c.Recorded))
	}
	want := []string{
		"always one early 1: 1 1, 0 runs, 0.7, 0.53", "always one early 2: 1 1, 0 runs, 0.7, 0.53",
		"always one late 1: 1 1, 0 runs, 0.7, 0.57", "always one late 2: 1 1, 0 runs, 0.7, 0.57",
		"elsewhere early 1: 0 1, 3 runs, 0.8, 0.52", "elsewhere early 2: 0 1, 3 runs, 0.8, 0.52",
		"elsewhere late 1: 0 1, 3 runs, 0.8, 0.58", "elsewhere late 2: 0 1, 3 runs, 0.8, 0.58",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A changed table changes only the keys of the controllers that read it. The sequences tried are those with the
	// greatest means.
	for name, want := range map[string]string{
		"net-early/always_one-2": "1 0 net-early/always_one-2 [{deepening.controller constant, sequence [1 1], runs 0} " +
			"{deepening.seed 2} {deepening.tried []}]",
		"net-late/elsewhere-1": "1 1 net-late/elsewhere-1 [{deepening.controller best_elsewhere, sequence [], runs 3} " +
			"{deepening.seed 1} {deepening.table " + net.Digest + "} {deepening.tried [3 1 2]}]",
	} {
		if got := w.keys[name]; got != want {
			t.Errorf("the key of %s is\n%s\nwant\n%s", name, got, want)
		}
	}
	if n := len(w.observed); n != 2 || w.observed[0].Kind != stages.StageStart || w.observed[0].Total != 8 ||
		w.observed[1].Kind != stages.StageEnd || w.observed[1].Done != 8 || w.observed[1].Err != nil {
		t.Errorf("observed %+v", w.observed)
	}
	// The courses of all trainings: by the sequences, and by the controllers.
	if n := len(net.Trained); n != 8+8 || net.Trained[1].Scenario != "early" || net.Trained[1].Sequence != "0 1" ||
		net.Trained[1].Accuracy != .52 || net.Trained[15].Controller != net.Controllers[2].Name || net.Trained[15].Seed != 2 ||
		net.Trained[15].Accuracy != .8 || net.Trained[15].Adaptation != net.Name ||
		net.Trained[15].Budget != net.Real.Budget.Seconds() {
		t.Errorf("%d trainings: %+v", n, net.Trained)
	}
}

// TestControllersWithoutATable: without a table, controllers that try networks train them, and controllers that need a
// table do not decide.
func TestControllersWithoutATable(t *testing.T) {
	w, r := two(t)
	net := w.studies[1]
	net.Real.Exhaustive, net.Real.Repeats = false, 1
	net.Controllers = []*deepening.Controller{
		{Name: "few", Kind: "few_runs", Runs: 4}, {Name: "best", Kind: "best_constant"},
	}
	known := w.train
	w.train = func(name string) (record.Cell, []steering.Row) {
		switch name {
		case "net-early/few-1":
			return finely(.9, "1 1")
		case "net-late/few-1", "net-late/0-1": // one training that it tries, and the training in which it decides, fail
			return finely(math.NaN(), "0 1")
		}
		return known(name)
	}
	if err := decideInTrainings(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if len(net.Chosen) != 1 || net.Chosen[0].Runs != 4 || net.Chosen[0].Accuracy != .9 ||
		!math.IsNaN(net.Chosen[0].Recorded) {
		t.Errorf("chosen %+v", net.Chosen)
	}
	if want := []string{"failed_training: few in late: its program reported no accuracy"}; !slices.Equal(w.warnings, want) {
		t.Errorf("warnings %q", w.warnings)
	}
	end := w.observed[len(w.observed)-1]
	if end.Done != 4+1+4+1 || end.Reused != 10 || end.Total != 4+4+3 {
		t.Errorf("at the end: %+v", end)
	}
	if len(net.Trained) != 1 {
		t.Errorf("trained %+v", net.Trained)
	}
	// A machine that cannot train ends the search at its first training.
	broken, r := two(t)
	broken.train, broken.studies[1].Real.Exhaustive = nil, false
	broken.studies[1].Controllers = net.Controllers[:1]
	if err := decideInTrainings(t.Context(), r); !errors.Is(err, errNowhere) {
		t.Errorf("error %v", err)
	}
	begun := 0
	for _, p := range broken.observed {
		if p.Kind == stages.UnitStart {
			begun++
		}
	}
	if begun != 1 {
		t.Errorf("%d trainings began", begun)
	}
}
