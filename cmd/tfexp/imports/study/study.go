// Package study writes recorded training runs as results of an experiment. Each configuration becomes a policy, and
// each of its runs a cell.
package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/runs"
)

// Study is a recorded experiment.
type Study struct {
	Name string
	// Source describes where the tables came from.
	Source         string
	Configurations []Configuration
	// Baseline is the configuration with which the others are compared; empty for none.
	Baseline string
	Warnings []string
	Version  string
	Command  []string
}

// Configuration is a group of runs with the same settings.
type Configuration struct {
	Name    string
	Summary string
	// Settings are the settings in the configuration's name. All configurations of a study have the same settings, or
	// none has any.
	Settings []record.Setting
	Workers  int // workers of each run
	Runs     []runs.Run
}

// Names in an imported experiment.
const (
	workloadName = "training"
	hardwareName = "servers"
	policyName   = "run" // the policy, if configurations differ in settings
)

// ErrOther is returned when the folder already has results of an experiment that tfexp ran.
var ErrOther = errors.New("it holds the results of an experiment that was run")

// importedEngine is the name of the engine of imported cells.
const importedEngine = "imported"

// comparedMetrics are the metrics by which configurations are compared.
var comparedMetrics = []measure.Metric{measure.Makespan, measure.Cost, measure.FinalAccuracy}

// Write writes the folder of results with its tables. It replaces earlier imported runs, and returns ErrOther if the
// folder has results of an experiment that tfexp ran.
func Write(dir string, s Study) (err error) {
	if e, err := record.Open(dir); err == nil {
		for _, c := range e.Plan.Cells {
			if c.Engine != importedEngine {
				return fmt.Errorf("write %s: %w", dir, ErrOther)
			}
		}
		if err := folder.RemoveAll(filepath.Join(dir, record.CellsDir)); err != nil {
			return fmt.Errorf("write %s: %w", dir, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(folder.MkdirAll(filepath.Dir(dir), 0o755), folder.MkdirAll(dir, 0o700)); err != nil {
		return fmt.Errorf("write %s: %w", dir, err)
	}
	sums, err := record.BeginSums(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sums.Close()) }()
	plan := s.plan()
	at := 0
	failed := 0
	for i := range s.Configurations {
		for k := range s.Configurations[i].Runs {
			c, err := writeRun(dir, plan.Cells[at], &s.Configurations[i], &s.Configurations[i].Runs[k])
			if err != nil {
				return err
			}
			if c.State == record.CellFailed {
				failed++
			}
			at++
		}
	}
	if err := writeJSON(dir, record.PlanFile, plan); err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	run := record.Run{
		Started: now, Ended: now, State: record.CellFinished, Reported: true, Version: s.Version, Command: s.Command,
		File: s.Source, Ran: len(plan.Cells), Failed: failed, Host: []record.Setting{},
	}
	for _, w := range s.Warnings {
		run.Warnings = append(run.Warnings, record.Warning{Code: "recorded_runs", Text: w})
	}
	if err := writeJSON(dir, record.RunFile, run); err != nil {
		return err
	}
	return analysis.WriteTables(dir)
}

func writeJSON(dir, name string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = table.WriteWhole(filepath.Join(dir, name), true, append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// plan returns a plan with one policy for each configuration.
func (s *Study) plan() record.Plan {
	p := record.Plan{
		Schema: record.PlanSchema, Experiment: s.Name, Axes: []string{},
		Description: "Recorded training runs, read from " + s.Source + ".",
		Workloads:   []record.Named{{Name: workloadName, Summary: "one training run"}},
		Hardware: []record.Named{{Name: hardwareName, Summary: "the servers of each configuration, as they were " +
			"recorded"}},
	}
	var base []record.Setting
	var known []measure.Metric
	for i := range s.Configurations {
		c := &s.Configurations[i]
		policy := record.Named{Name: c.Name, Summary: c.Summary}
		if c.Settings != nil { // configurations that differ in settings are one policy
			policy = record.Named{Name: policyName, Summary: "recorded, with the settings in its folder's name"}
		}
		if i == 0 || c.Settings == nil {
			p.Policies = append(p.Policies, policy)
		}
		if c.Name == s.Baseline {
			base = c.Settings
		}
		p.Replicates = max(p.Replicates, len(c.Runs))
		for k := range c.Runs {
			p.RunOrder = append(p.RunOrder, len(p.Cells))
			p.Cells = append(p.Cells, record.CellRef{
				Cell:     fmt.Sprintf("%s-%s-%s-r%d", workloadName, hardwareName, folderName(c.Name), k+1),
				Workload: workloadName, Hardware: hardwareName, Policy: policy.Name, Replicate: k + 1, Axes: c.Settings,
				Engine: importedEngine, Simulated: true, Recorded: true, Cores: max(c.Workers, 1),
			})
			known = include(known, &c.Runs[k])
		}
	}
	if len(s.Configurations) > 0 && s.Configurations[0].Settings != nil {
		p.Axes = s.axes()
	}
	if s.Baseline != "" && len(s.Configurations) > 1 {
		for _, m := range comparedMetrics {
			c := record.Compare{Metric: m.Name, Baseline: s.Baseline, Level: analysis.DefaultLevel}
			if base != nil {
				c.Baseline, c.At = policyName, base
			}
			p.Compares = append(p.Compares, c)
		}
	}
	p.Plots = s.pictures(known)
	return p
}

// include adds to known the compared metrics that a run has.
func include(known []measure.Metric, r *runs.Run) []measure.Metric {
	for _, m := range comparedMetrics {
		value := map[string]float64{measure.Cost.Name: r.Cost, measure.FinalAccuracy.Name: r.Accuracy}[m.Name]
		if !math.IsNaN(value) && !slices.ContainsFunc(known, func(o measure.Metric) bool { return o.Name == m.Name }) {
			known = append(known, m)
		}
	}
	return known
}

// folderName replaces the characters of a name that a folder's name cannot have.
func folderName(name string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\ :`, c) {
			return '_'
		}
		return c
	}, name)
}

// writeRun writes the cell of a run. The cell has one job, which holds all workers for the run's duration.
func writeRun(dir string, ref record.CellRef, c *Configuration, r *runs.Run) (record.Cell, error) {
	folder := filepath.Join(dir, record.CellsDir, ref.Cell)
	job := scheduler.Job{
		Name: r.Name(), Class: c.Name, Threads: ref.Cores, Deadline: scheduler.Never,
	}
	setup := record.Setup{Cell: ref}
	setup.Cluster = scheduler.Cluster{Nodes: []scheduler.Node{{Name: "workers", Threads: ref.Cores}}}
	setup.Jobs = []scheduler.Job{job}
	w, err := record.NewCellWriter(folder, setup, record.AllRecords)
	if err != nil {
		return record.Cell{}, err
	}
	defer w.Abort()
	cores := scheduler.CoreSet{{Lo: 0, Hi: int32(ref.Cores)}}
	w.Event(&scheduler.Event{Kind: scheduler.Arrive, Job: 0})
	w.Event(&scheduler.Event{Kind: scheduler.Start, Job: 0, Cores: cores})
	end := scheduler.Event{At: r.Duration, Kind: scheduler.Finish, Job: 0}
	if !r.Whole {
		end.Kind, end.Reason = scheduler.Fail, "its recorded run ends before the last step"
	}
	w.Event(&end)
	w.SetFinal(0, measure.Final{Loss: r.Loss, Accuracy: r.Accuracy})
	w.SetMoney(0, measure.ServerCost{Cost: r.Cost, Revocations: r.Revocations()})
	out := record.Cell{Busy: -1}
	points, err := writePoints(folder, r.Name(), r.Points)
	if err != nil {
		return record.Cell{}, err
	}
	out.Files = append(out.Files, points)
	return w.Finish(out)
}

// writePoints writes the evaluated checkpoints of a job into the cell's progress.csv.
func writePoints(folder, job string, points []runs.Point) (record.File, error) {
	p, err := record.Progress.Live(folder)
	if err != nil {
		return record.File{}, err
	}
	for _, at := range points {
		p.Add(record.ProgressRow{Used: math.NaN(), Left: math.NaN(), TimeLeft: math.NaN(), Rate: math.NaN(),
			At: at.At.Seconds(), Job: job, Step: at.Step, Loss: at.Loss, Accuracy: at.Accuracy,
			Seconds: math.NaN(),
		})
	}
	return p.Close()
}
