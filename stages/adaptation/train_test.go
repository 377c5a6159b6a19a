package adaptation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

// small is an adaptation with two scenarios, one decision and an agent that continues another one.
func small() *deepening.Study {
	table := func(name string, accuracy ...float64) *deepening.OutcomeTable {
		return &deepening.OutcomeTable{Name: name, Decisions: 1, Actions: 2, Time: [][]float64{{0.5}}, Accuracy: accuracy}
	}
	s := &deepening.Study{Name: "net", Seeds: 2, Tables: []*deepening.OutcomeTable{table("early", .5, .7), table("late",
		.8, .6)}}
	settings := deepening.Settings{Episodes: 8, Batch: 4, Rate: 0.01, Decay: 1, DecayEvery: 500, Temperature: 1}
	first := &deepening.Controller{Name: "first", Kind: "agent", Learn: &deepening.AgentLearning{LeaveOut: true,
		Settings: settings}}
	settings.Episodes = 4
	then := &deepening.Controller{Name: "then", Kind: "agent", Learn: &deepening.AgentLearning{From: first,
		Settings: settings}}
	s.Controllers = []*deepening.Controller{{Name: "none", Kind: "do_nothing"}, then, first}
	return s
}

// learners records the stage's calls.
type learners struct {
	stages.Experiment
	stages.Sampling
	stages.PastRuns
	stages.CellQueue
	stages.Shards
	stages.CellFolders
	stages.Pieces
	stages.Engines
	stages.Log
	studies []*deepening.Study

	mu       sync.Mutex // guards the fields below
	observed []stages.Progress
	kept     []string
}

func (w *learners) File() *experiment.Spec {
	spec := &experiment.Spec{}
	for _, s := range w.studies {
		spec.Parts = append(spec.Parts, &Block{Study: s})
	}
	return spec
}

func (w *learners) Observe(p stages.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.observed = append(w.observed, p)
}

func (w *learners) KeepPiece(stage string, p stages.Piece, made []byte, seconds float64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, fmt.Sprint(stage, " ", p.Name, " ", string(made) == hashOf(p.Key), " ", seconds >= 0))
	return nil
}

func begun(t *testing.T) (*learners, *stages.Run) {
	w := &learners{studies: []*deepening.Study{small()}}
	return w, &stages.Run{Dir: t.TempDir(), Parallel: 1, Experiment: w, Sampling: w, PastRuns: w,
		CellQueue: w, Shards: w, CellFolders: w, Pieces: w, Engines: w, Log: w}
}

// TestAgentsLearnInTurn: an agent that continues another one learns after it; finished agents do not learn again.
func TestAgentsLearnInTurn(t *testing.T) {
	w, r := begun(t)
	pieces, err := listAgents(stages.Planning{Dir: r.Dir, Experiment: w})
	if err != nil || len(pieces) != 8 {
		t.Fatalf("pieces %v, %v", pieces, err)
	}
	var names []string
	for i, p := range pieces {
		names = append(names, p.Name)
		if text := fmt.Sprintf("%d episodes on", map[bool]int{true: 8, false: 4}[i < 4]); p.Text[:len(text)] != text {
			t.Errorf("%s: %s", p.Name, p.Text)
		}
		if findAgent(stages.Planning{Dir: r.Dir, Experiment: w}, p, nil) {
			t.Errorf("%s is there before it has learned", p.Name)
		}
	}
	want := []string{"late (seed 1)", "late (seed 2)", "early (seed 1)", "early (seed 2)", "late then early (seed 1)",
		"late then early (seed 2)", "early then late (seed 1)", "early then late (seed 2)"}
	if !slices.Equal(names, want) {
		t.Errorf("they learn as %q", names)
	}
	if err := learnAll(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	var ends []string
	for i, p := range w.observed {
		if p.Total != 8 || p.Reused != 0 || p.Stage != learnStage || p.Err != nil || p.Done != min(i, 8) {
			t.Errorf("observed %+v", p)
		}
		if p.Kind == stages.UnitEnd {
			ends = append(ends, p.Unit)
		}
	}
	if len(w.observed) != 10 || !slices.Equal(ends, want) || len(w.kept) != 8 ||
		w.kept[7] != "learn "+want[7]+" true true" {
		t.Errorf("observed %v, kept %q", ends, w.kept)
	}
	for _, p := range pieces {
		if !findAgent(stages.Planning{Dir: r.Dir, Experiment: w}, p, nil) {
			t.Errorf("%s is not there after it has learned", p.Name)
		}
	}
	lines, err := leftAgents(r)
	if err != nil || len(lines) != 8 || lines[3].Value != hashOf(pieces[3].Key) {
		t.Errorf("the stage left %v, %v", lines, err)
	}
	w.observed = nil
	if err := learnAll(t.Context(), r); err != nil || w.observed != nil {
		t.Errorf("again: %v, %v", w.observed, err)
	}
	// After one agent is removed, only this agent learns again.
	if err := os.RemoveAll(agentDir(r.Dir, pieces[5].Key)); err != nil {
		t.Fatal(err)
	}
	if err := learnAll(t.Context(), r); err != nil || len(w.observed) != 3 || w.observed[1].Unit != want[5] ||
		w.observed[0].Done != 7 || w.observed[1].Done != 8 || w.observed[2].Reused != 7 {
		t.Errorf("one of them is missing: %+v, %v", w.observed, err)
	}
}

// TestCheckpoints: an interrupted training writes a checkpoint, and continues from it to the same weights. An
// incomplete checkpoint, or one of another agent, is ignored.
func TestCheckpoints(t *testing.T) {
	weights := func(change func(at string)) (raw []byte, cost trainingCost) {
		_, r := begun(t)
		training := trainings(r.Dir, r.Experiment)[0][0]
		at := agentDir(r.Dir, description(training))
		change(at)
		if err := trainAgent(t.Context(), r, training); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(at, checkpointFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the checkpoint stays: %v", err)
		}
		raw, err := folder.ReadFile(at, weightsFile)
		if err != nil {
			t.Fatal(err)
		}
		return raw, readSpent(at)
	}
	whole, _ := weights(func(string) {})
	_, r := begun(t)
	training := trainings(r.Dir, r.Experiment)[0][0]
	from := agentDir(r.Dir, description(training))
	if err := os.MkdirAll(from, 0o755); err != nil {
		t.Fatal(err)
	}
	l, _, err := beginAgent(r.Dir, from, training)
	if err != nil {
		t.Fatal(err)
	}
	l.Step(training.Tables())
	if err := save(from, checkpointFile, l, trainingCost{l.Episodes, 1000}); err != nil {
		t.Fatal(err)
	}
	copied := func(at string) {
		if err := os.CopyFS(at, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(at string)
		goesOn bool
	}{
		"a checkpoint":          {copied, true},
		"torn":                  {func(at string) { copied(at); write(filepath.Join(at, checkpointFile), "x") }, false},
		"of another agent":      {func(at string) { copied(at); write(filepath.Join(at, keyFile), "x") }, false},
		"without what it spent": {func(at string) { copied(at); os.Remove(filepath.Join(at, spentFile)) }, false},
	} {
		raw, cost := weights(c.change)
		if !bytes.Equal(raw, whole) {
			t.Errorf("%s: it learns other weights", name)
		}
		if cost.Episodes != 8 || (cost.Seconds >= 1000) != c.goesOn {
			t.Errorf("%s: it has cost %+v", name, cost)
		}
	}

	// The checkpoint of an interrupted training has the number of episodes so far.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w, r := begun(t)
	if err := learnAll(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted stage ends with %v", err)
	}
	end := w.observed[len(w.observed)-1]
	if len(w.observed) != 2 || !errors.Is(end.Err, context.Canceled) || end.Done != 0 {
		t.Errorf("observed %+v", w.observed)
	}
	at := agentDir(r.Dir, description(training))
	raw, err := folder.ReadFile(at, checkpointFile)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := deepening.LoadLearner(raw); err != nil || l.Episodes != 0 {
		t.Errorf("the checkpoint: %+v, %v", l, err)
	}
}

// TestWeightsOfAnAgent: weights belong to the agent that their file describes. A further lesson begins with the weights
// of the lesson before.
func TestWeightsOfAnAgent(t *testing.T) {
	_, r := begun(t)
	levels := trainings(r.Dir, r.Experiment)
	if _, _, err := beginAgent(r.Dir, r.Dir, levels[1][0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the agent before it: %v", err)
	}
	if err := learnAll(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if l, seconds, err := ReadWeights(r.Dir, levels[0][0]); err != nil || !l.Done() || seconds <= 0 || l.M != nil {
		t.Errorf("%+v in %g s, %v", l, seconds, err)
	}
	before, _, err := ReadWeights(r.Dir, levels[0][0])
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(r.Dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if l, _, err := beginAgent(r.Dir, other, levels[1][0]); err != nil ||
		!slices.Equal(l.Network.Weights, before.Network.Weights) || l.Episodes != 0 {
		t.Errorf("the next lesson begins with %+v, %v", l, err)
	}
	at := agentDir(r.Dir, description(levels[0][0]))
	if err := os.WriteFile(filepath.Join(at, spentFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, seconds, err := ReadWeights(r.Dir, levels[0][0]); err != nil || seconds != 0 {
		t.Errorf("without what it cost: %g s, %v", seconds, err)
	}
	for file, text := range map[string]string{weightsFile: "torn", keyFile: "another"} {
		if err := os.WriteFile(filepath.Join(at, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadWeights(r.Dir, levels[0][0]); err == nil {
			t.Errorf("with another %s there are weights", file)
		}
	}
	// The stage trains the agent again. If a folder cannot be made, the stage ends with this error.
	if err := learnAll(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if raw, err := folder.ReadFile(at, spentFile); err != nil || !json.Valid(raw) {
		t.Errorf("%s, %v", raw, err)
	}
	_, r = begun(t)
	if err := os.WriteFile(filepath.Join(r.Dir, AgentsDir), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := learnAll(t.Context(), r); err == nil {
		t.Error("agents learn in a file")
	}
	if got := parallel(&stages.Run{Parallel: 3}); got != 3 {
		t.Errorf("%d learn side by side", got)
	}
	if got := parallel(&stages.Run{}); got != runtime.GOMAXPROCS(0) {
		t.Errorf("%d learn side by side", got)
	}
}
