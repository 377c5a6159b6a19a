// Package adaptation deepens networks while they train under a time budget. Its stages train a network by every
// sequence of decisions, which makes a table; train agents on such tables; let every controller decide in every
// scenario; and draw the results.
package adaptation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	"github.com/tfexp/tfexp/stages/execute"
	"github.com/tfexp/tfexp/stages/steering"
)

// The outputs of the stages: the real trainings (table.csv and trainings/), the trainings in which controllers decided,
// and the weights of agents.
const (
	tablesTrained   stages.Artifact = "trained"
	trainingsChosen stages.Artifact = "chosen"
	agentsLearned   stages.Artifact = "agents"
)

var _ = stages.Register(&stages.Stage{
	Name:      "deepen",
	Reads:     []stages.Artifact{stages.Cells},
	Writes:    []stages.Artifact{tablesTrained},
	Files:     []string{TrainingsDir, TableFile},
	OutputKey: leftTables,
	Pieces: &stages.PieceStore{Title: "trainings by sequences", Noun: "training", Earlier: "trained earlier",
		List: listTrainings, Find: findTrainings},
	Run: trainAllSequences,
})

// leftTables returns the lines of the stage's key: the contents of the tables.
func leftTables(r *stages.Run) ([]stages.KeyLine, error) {
	var lines []stages.KeyLine
	for _, s := range studies(r.Dir, r.Experiment) {
		if s.Real != nil {
			lines = append(lines, stages.KeyLine{Label: "trained." + s.Name, Value: "table " + s.Digest})
		}
	}
	return lines, nil
}

// listTrainings returns a piece of work for each scenario in which a network is trained by every sequence.
func listTrainings(p stages.Planning) ([]stages.Piece, error) {
	var pieces []stages.Piece
	for i, s := range blocks(p.File()) {
		if s.Real == nil || !s.Real.Exhaustive {
			continue
		}
		for k, sc := range s.Real.Scenarios {
			one := trainingPlace{dir: p.Dir, experiment: p.Experiment, index: i, Study: s.Study}
			_, key, err := one.task(k, one.sequence(0))
			if err != nil {
				return nil, err
			}
			n := s.Real.Sequences()
			pieces = append(pieces, stages.Piece{
				Name: s.Name + "-" + sc.Name, Key: key, Count: n,
				Text: fmt.Sprintf("all %d sequences of %s in %s, %s each", n, s.Name, sc.Name, s.Real.Budget),
			})
		}
	}
	return pieces, nil
}

// findTrainings reports whether all trainings of a scenario exist.
func findTrainings(p stages.Planning, piece stages.Piece, kept []byte) bool {
	if kept != nil {
		return false // the folders, not the cache, show which trainings exist
	}
	for i, s := range blocks(p.File()) {
		if s.Real == nil {
			continue
		}
		for k, sc := range s.Real.Scenarios {
			if s.Name+"-"+sc.Name != piece.Name {
				continue
			}
			one := trainingPlace{dir: p.Dir, experiment: p.Experiment, index: i, Study: s.Study}
			for n := range s.Real.Sequences() {
				if task, key, err := one.task(k, one.sequence(n)); err != nil || !complete(task.Dir, key) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// keyFile is the file with the key of a training: everything that the training depends on.
const keyFile = "key.txt"

// trainingPlace has the adaptation and the folders of its trainings.
type trainingPlace struct {
	dir        string // folder of the experiment
	experiment stages.Experiment
	index      int // index of the adaptation in the experiment
	*deepening.Study
}

// plannedTraining is a training that has a folder, and the source of its decisions.
type plannedTraining struct {
	name    string // name of its folder
	by      deepening.Decider
	depends []stages.KeyLine
}

// sequence returns the training by the sequence with the given index.
func (p *trainingPlace) sequence(index int) plannedTraining {
	table := deepening.OutcomeTable{Decisions: p.Real.Decisions, Actions: p.Real.Blocks + 1}
	actions := deepening.FormatSequence(table.Sequence(index))
	return plannedTraining{
		name: strings.ReplaceAll(actions, " ", "-"), by: deepening.SequenceDecider(p.Real, index),
		depends: []stages.KeyLine{{Label: "deepening.sequence", Value: actions}},
	}
}

// unit returns the name of a training in messages and in the journal.
func (p *trainingPlace) unit(scenario int, c plannedTraining) string {
	return fmt.Sprintf("%s-%s/%s", fileName(p.Name), fileName(p.Real.Scenarios[scenario].Name), c.name)
}

// task returns a training as a task, and the text of its key.
func (p *trainingPlace) task(scenario int, c plannedTraining) (stages.Task, string, error) {
	unit := p.unit(scenario, c)
	point := blocks(p.experiment.File())[p.index].Cells[scenario]
	decisions := fmt.Sprintf("%d decisions between %d actions, at %v, from %s",
		p.Real.Decisions, p.Real.Blocks+1, p.Real.At,
		p.Real.Scenarios[scenario].First)
	depends := append([]stages.KeyLine{{Label: "deepening", Value: decisions}}, c.depends...)
	task, key, err := p.experiment.Beyond(point, unit, depends, stages.Folders{
		Dir:     filepath.Join(p.dir, TrainingsDir, filepath.FromSlash(unit)),
		Scratch: filepath.Join(p.dir, ".scratch-"+strings.ReplaceAll(unit, "/", "-")),
	})
	if err != nil {
		return task, key, fmt.Errorf("training %s: %w", unit, err)
	}
	j := point.Workload.Submits[0].Job
	by := &deepening.LiveInputs{Decider: c.by, Real: p.Real, Scenario: scenario}
	task.Parts = append(task.Parts, &steering.Controllers{Jobs: []steering.Job{{
		Units: j.Length(), Steps: j.Steps > 0, Controller: deepening.LiveController, Options: by.Options(),
	}}})
	return task, key, nil
}

// complete reports whether the training in a folder has the given key and finished. A failed training is tried again,
// as cells are.
func complete(dir, key string) bool {
	raw, err := folder.ReadFile(dir, keyFile)
	if err != nil || string(raw) != key || !record.Intact(dir) {
		return false
	}
	var cell record.Cell
	return record.ReadCellFile(dir, &cell) == nil && cell.State == record.CellFinished
}

// trainer trains the networks of one adaptation.
type trainer struct {
	*stages.Run
	trainingPlace
	stage               string
	done, total, reused int
	began               time.Time
	repeats             execute.Repeats // trainings repeated because other programs disturbed them
}

// oneIn bounds the repetitions: at most one in 8 trainings is repeated because other programs disturbed it. On a
// machine that is always busy, more repetitions would take much time for no better results.
const oneIn = 8

// trainers returns the trainers of all adaptations with a job.
func trainers(r *stages.Run, stage string) []*trainer {
	var list []*trainer
	for i, s := range studies(r.Dir, r.Experiment) {
		if s.Real != nil {
			at := trainingPlace{dir: r.Dir, experiment: r.Experiment, index: i, Study: s}
			list = append(list, &trainer{Run: r, trainingPlace: at, stage: stage, began: time.Now()})
		}
	}
	return list
}

// trainingResult is the result of a training.
type trainingResult struct {
	accuracy float64 // NaN if the training failed
	rows     []steering.Row
	problem  string // reason of the failure; empty if it did not fail
	dir      string // its folder
}

// decisions returns the decisions of the training, in the order in which they were made.
func (o *trainingResult) decisions() []steering.Row {
	return schema.Where(o.rows, func(row steering.Row) bool { return row.Probabilities != "" })
}

// train returns the result of a training, and runs it if it does not exist.
func (t *trainer) train(ctx context.Context, scenario int, c plannedTraining) (*trainingResult, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	task, key, err := t.task(scenario, c)
	if err != nil {
		return nil, err
	}
	if complete(task.Dir, key) {
		t.reused++
	} else if err := t.carryOut(ctx, t.unit(scenario, c), key, &task); err != nil {
		return nil, err
	}
	t.done++
	return readTraining(task.Dir)
}

// carryOut runs a training in its folder.
func (t *trainer) carryOut(ctx context.Context, unit, key string, task *stages.Task) error {
	dir := task.Dir
	err := folder.RemoveAll(dir)
	if err == nil {
		err = folder.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = folder.WriteFile(filepath.Join(dir, keyFile), []byte(key), 0o644)
	}
	if err != nil {
		return fmt.Errorf("training %s: %w", unit, err)
	}
	began := time.Now()
	t.observe(stages.Progress{Kind: stages.UnitStart, Unit: unit})
	on := execute.Machine{Site: t.Site(task.Hardware.Kind), GPUs: t.GPUs, Repeats: &t.repeats}
	cell, err := execute.Real(ctx, *task, on, nil)
	if err != nil {
		return fmt.Errorf("training %s: %w", unit, err)
	}
	for _, w := range cell.Warnings {
		t.Warn(w.Code, unit, w.Text)
	}
	end := stages.Progress{Kind: stages.UnitEnd, Unit: unit, Elapsed: time.Since(began)}
	if cell.State != record.CellFinished {
		end.Err = errors.New(problem(&cell))
	}
	t.done++
	t.observe(end)
	t.done--
	return t.Note(stages.Note{Event: "training", Unit: unit, State: cell.State, Seconds: end.Elapsed.Seconds()})
}

// observe reports progress, with the numbers of trainings and the remaining time.
func (t *trainer) observe(p stages.Progress) {
	p.Stage, p.Done, p.Total, p.Reused = t.stage, t.done, t.total, t.reused
	p.Left = time.Duration(max(t.total-t.done, 0)) * t.Real.Budget
	t.Observe(p)
}

// problem returns the reason why a training failed.
func problem(c *record.Cell) string {
	if c.Error != "" || len(c.Failures) == 0 {
		return c.Error
	}
	return c.Failures[0].Reason
}

// readTraining reads the result of a training from its folder.
func readTraining(dir string) (*trainingResult, error) {
	var cell record.Cell
	if err := record.ReadCellFile(dir, &cell); err != nil {
		return nil, fmt.Errorf("read a training: %w", err)
	}
	rows, err := steering.Decisions.Read(dir)
	if err != nil {
		return nil, fmt.Errorf("read a training: %w", err)
	}
	out := &trainingResult{accuracy: math.NaN(), rows: rows, dir: dir}
	if cell.State != record.CellFinished {
		out.problem = problem(&cell)
	} else if out.accuracy = measure.FinalAccuracy.Of(&cell.Metrics); math.IsNaN(out.accuracy) {
		out.problem = "its program reported no accuracy"
	}
	return out, nil
}

// fileName returns a name with only those characters that can be in a folder's name.
func fileName(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, name)
}

// trainAllSequences trains by every sequence in adaptations that need it, and writes their tables.
func trainAllSequences(ctx context.Context, r *stages.Run) error {
	var all []*trainer
	for _, t := range trainers(r, "deepen") {
		if t.Real.Exhaustive {
			t.total = t.Real.Sequences() * len(t.Real.Scenarios)
			t.repeats = execute.Repeats{Bounded: true, Left: t.total / oneIn}
			all = append(all, t)
		}
	}
	for _, t := range all {
		there := t.finishedSequences()
		if there < t.total {
			t.done, t.reused = there, there
			t.observe(stages.Progress{Kind: stages.StageStart})
			t.done, t.reused = 0, 0
		}
		err := t.table(ctx)
		if there < t.total {
			t.observe(stages.Progress{Kind: stages.StageEnd, Elapsed: time.Since(t.began), Err: err})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finishedSequences returns the number of trainings by sequences that finished.
func (t *trainer) finishedSequences() int {
	n := 0
	for k := range t.Real.Scenarios {
		for i := range t.Real.Sequences() {
			if task, key, err := t.task(k, t.sequence(i)); err == nil && complete(task.Dir, key) {
				n++
			}
		}
	}
	return n
}

// table trains by every sequence, and writes the table.
func (t *trainer) table(ctx context.Context) error {
	var b bytes.Buffer
	b.WriteString("scenario")
	for d := range t.Real.Decisions {
		fmt.Fprintf(&b, ",a%d", d+1)
	}
	for d := range t.Real.Decisions {
		fmt.Fprintf(&b, ",timeleft%d", d+1)
	}
	b.WriteString(",totaltime,acc\n")
	failed, short := 0, 0
	var why string
	for k, sc := range t.Real.Scenarios {
		for i := range t.Real.Sequences() {
			out, err := t.train(ctx, k, t.sequence(i))
			if err != nil {
				return err
			}
			if out.problem != "" {
				failed, why = failed+1, out.problem
				continue
			}
			if len(out.decisions()) < t.Real.Decisions {
				short++
			}
			b.WriteString(t.row(sc.Name, i, out))
		}
	}
	path := filepath.Join(t.Dir, tableOf(studiesOf(t.experiment.File()), t.Study))
	if err := folder.Write(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	if short > 0 {
		t.Warn("few_decisions", "",
			fmt.Sprintf("in %d of %d trainings of %s the budget ended before all decisions were taken", short, t.total,
				t.Name))
	}
	t.Tables = nil
	if err := addTrainedTable(t.Study, b.Bytes()); err != nil {
		t.Warn("incomplete_table", "",
			fmt.Sprintf("%d of %d trainings of %s failed (%s), so nothing can learn on its table: %v",
				failed, t.total, t.Name, why, err))
	}
	return nil
}

// row returns the table's row for a sequence.
func (t *trainer) row(scenario string, index int, out *trainingResult) string {
	fields := []string{quoted(scenario)}
	sequence := (&deepening.OutcomeTable{Decisions: t.Real.Decisions, Actions: t.Real.Blocks + 1}).Sequence(index)
	fields = append(fields, schema.Each(sequence, strconv.Itoa)...)
	taken := out.decisions()
	for d := range sequence {
		left := 0.0
		if d < len(taken) {
			left = taken[d].Left
		}
		fields = append(fields, strconv.FormatFloat(left, 'f', 4, 64))
	}
	fields = append(fields, strconv.FormatFloat(t.Real.Budget.Seconds(), 'f', -1, 64), strconv.FormatFloat(out.accuracy,
		'f', -1, 64))
	return strings.Join(fields, ",") + "\n"
}

// quoted returns a name as a field of a CSV file.
func quoted(s string) string {
	if strings.ContainsAny(s, ",\"\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
