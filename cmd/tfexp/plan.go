package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/progress"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
)

// maxGroups bounds the lines of a plan: a matrix may have thousands of variants.
const maxGroups = 40

// maxChanges bounds the changed lines that are shown for a group of cells.
const maxChanges = 6

func (a *app) planCommand() *cobra.Command {
	var (
		vars          variables
		opts          pipeline.Options
		asJSON, cells bool
	)
	cmd := &cobra.Command{
		Use:   "plan FILE [--out DIR] [-var name=value] [--lenient] [--cells] [--json]",
		Short: "Show what a run would do, why, and how long it would take",
		Long: `Show what "tfexp run" with the same arguments would do: which cells would run and
which would be reused, which jobs would be profiled, and how long it would take. For
the time, each real cell is simulated, with run times from earlier samples or else
from the jobs' runtime blocks. Cells are shown by variant, with what changed since
they last ran; --cells lists every cell in the order in which they run. Nothing runs
and nothing is written.

Exit status: 0; 3 when the experiment is invalid; 6 when it needs hardware that this
machine does not have.`,
		Example: `  tfexp plan experiment.hcl
  tfexp plan experiment.hcl -var quantum=500ms --cells`,
		Args:              needFile,
		ValidArgsFunction: completeFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			spec, err := a.load(args[0], &vars, asJSON)
			if err != nil {
				return err
			}
			opts.Version, opts.Command = thisBuild().Version, a.args
			plan, err := pipeline.New(spec, opts)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(planJSON(plan))
			}
			return a.printPlan(plan, cells)
		},
	}
	vars.flags(cmd.Flags())
	cmd.Flags().StringVar(&opts.Out, "out", defaultOut, "`DIR` of the results")
	cmd.Flags().BoolVar(&opts.Fresh, "fresh", false, "plan as if nothing had run before")
	cmd.Flags().BoolVar(&cells, "cells", false, "list every cell in the order in which they run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// plannedCell is a cell of plan --json.
type plannedCell struct {
	record.CellRef
	pipeline.CellWork
	PredictedSeconds float64 `json:"predicted_seconds,omitempty"`
}

// plannedRun is plan --json. Cells are in the order in which they run.
type plannedRun struct {
	Experiment       string                 `json:"experiment"`
	Dir              string                 `json:"dir"`
	Run              int                    `json:"run"`
	Reuse            int                    `json:"reuse"`
	PredictedSeconds float64                `json:"predicted_seconds,omitempty"`
	Cells            []plannedCell          `json:"cells"`
	Profiles         []pipeline.ProfileWork `json:"profiles"`
	Stale            []string               `json:"stale,omitempty"`
}

func planJSON(p *pipeline.Plan) plannedRun {
	run, reuse := totals(p)
	out := plannedRun{
		Experiment: p.Experiment, Dir: p.Dir, Run: run, Reuse: reuse,
		PredictedSeconds: predicted(p).Seconds(),
		Cells:            make([]plannedCell, 0, len(p.Cells)),
		Profiles:         append([]pipeline.ProfileWork{}, p.Profiles...),
		Stale:            p.Stale,
	}
	for _, i := range p.RunOrder {
		out.Cells = append(out.Cells, plannedCell{p.Cells[i], p.Work[i], p.Work[i].Predicted.Seconds()})
	}
	return out
}

// totals counts the cells that run and those that are reused.
func totals(p *pipeline.Plan) (run, reuse int) {
	for _, w := range p.Work {
		if w.Reuse {
			reuse++
		}
	}
	return len(p.Work) - reuse, reuse
}

// predicted returns the predicted time of the cells that run; 0 when it is
// unknown for one of them. Simulated cells take next to no time.
func predicted(p *pipeline.Plan) time.Duration {
	var sum time.Duration
	for i, w := range p.Work {
		switch {
		case w.Reuse:
		case w.Predicted == 0 && p.Cells[i].Engine != simulated:
			return 0
		default:
			sum += w.Predicted
		}
	}
	return sum
}

// simulated is the engine whose cells run side by side, in virtual time.
const simulated = "simulated"

// headline is "fcfs_vs_rr: 10 cells, 4 of them reused, 6 run, about 20 s".
func headline(p *pipeline.Plan) string {
	run, reuse := totals(p)
	text := p.Experiment + ": " + count(len(p.Cells), "cell", "cells")
	switch {
	case run == 0:
		return text + ", all reused: nothing to run"
	case reuse == 0:
		text += " to run"
	default:
		text += fmt.Sprintf(", %d reused, %d to run", reuse, run)
	}
	samples := 0
	for _, w := range p.Profiles {
		if !w.Reuse {
			samples += len(w.Lengths) * max(w.Repeats, 1)
		}
	}
	if samples > 0 {
		text += ", after " + count(samples, "profiling sample", "profiling samples")
	}
	if d := predicted(p); d > 0 {
		text += ", about " + progress.Rough(d)
	}
	return text
}

// unforeseen returns why the time that the run takes is unknown; empty if it is
// known, or if nothing runs for real.
func unforeseen(p *pipeline.Plan) string {
	unknown := 0
	for i, w := range p.Work {
		if !w.Reuse && w.Predicted == 0 && p.Cells[i].Engine != simulated {
			unknown++
		}
	}
	if unknown == 0 {
		return ""
	}
	return fmt.Sprintf("time of %s: unknown until the jobs are profiled (runtime blocks would give it now)",
		count(unknown, "real cell", "real cells"))
}

func (a *app) printPlan(p *pipeline.Plan, cells bool) error {
	fmt.Fprintln(a.out, headline(p))
	if text := unforeseen(p); text != "" {
		fmt.Fprintln(a.out, text)
	}
	fmt.Fprintln(a.out)
	if cells {
		if err := a.printCells(p); err != nil {
			return err
		}
	} else {
		for _, g := range groups(p) {
			a.printGroup(g)
		}
	}
	if len(p.Profiles) > 0 {
		fmt.Fprintln(a.out, "\nprofiling:")
		for _, w := range p.Profiles {
			fmt.Fprintf(a.out, "  %s on %s: %s: %s\n", w.Name, count(w.Threads, "thread", "threads"), lengths(w), w.Reason)
			a.printChanges(changesOf(w.Changes))
		}
	}
	if n := len(p.Stale); n > 0 {
		fmt.Fprintf(a.out, "\n%s no longer in the plan: a run deletes such folders, but the cache keeps their results\n",
			count(n, "cell on disk is", "cells on disk are"))
	}
	return nil
}

// lengths is "samples of 2 and 4 epochs".
func lengths(w pipeline.ProfileWork) string {
	parts := make([]string, len(w.Lengths))
	for i, n := range w.Lengths {
		parts[i] = fmt.Sprint(n)
	}
	s := "samples of " + strings.Join(parts, " and ") + " " + w.Unit
	if w.Repeats > 1 {
		s += ", " + count(w.Repeats, "time", "times") + " each"
	}
	return s
}

func (a *app) printCells(p *pipeline.Plan) error {
	t := table{left: 3, header: []string{"cell", "", "why", "predicted"}}
	for _, i := range p.RunOrder {
		t.add(p.Cells[i].Cell, verb(p.Work[i].Reuse), p.Work[i].Reason, rough(p.Work[i].Predicted))
	}
	return t.write(a.out, "", a.outColor)
}

func rough(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return progress.Rough(d)
}

func verb(reuse bool) string {
	if reuse {
		return "reuse"
	}
	return "run"
}

// group is cells of one variant that run, or are reused, for one reason.
type group struct {
	label     string
	variants  int // number of variants in it
	cells     int
	reuse     bool
	reason    string
	changes   []change
	predicted time.Duration
}

// groups puts cells together by variant and reason, in the order of the file; by
// reason alone when there would be too many groups.
func groups(p *pipeline.Plan) []*group {
	byVariant := collect(p, label(p))
	if len(byVariant) <= maxGroups {
		return byVariant
	}
	return collect(p, func(record.CellRef) string { return "" })
}

func collect(p *pipeline.Plan, label func(record.CellRef) string) []*group {
	type id struct {
		label, reason string
		reuse         bool
	}
	var all []*group
	at := map[id]*group{}
	variants := map[*group]map[string]bool{}
	for i, c := range p.Cells {
		w := p.Work[i]
		key := id{label(c), w.Reason, w.Reuse}
		g, ok := at[key]
		if !ok {
			g = &group{label: key.label, reuse: w.Reuse, reason: w.Reason, changes: changesOf(w.Changes)}
			at[key], variants[g] = g, map[string]bool{}
			all = append(all, g)
		}
		variants[g][c.Variant()] = true
		g.variants = len(variants[g])
		g.cells++
		g.predicted += w.Predicted
		g.changes = shared(g.changes, changesOf(w.Changes))
	}
	return all
}

// change is a changed line in the keys of a group's cells. The new value is the
// same in all of them; the old value may differ.
type change struct {
	label, now string
	before     []string
}

// maxBefore bounds the old values that a change shows.
const maxBefore = 3

func (c change) String() string {
	before := strings.Join(c.before[:min(len(c.before), maxBefore)], " or ")
	if len(c.before) > maxBefore {
		before += " or others"
	}
	return store.Change{Label: c.label, Old: before, New: c.now}.String()
}

// changesOf turns the changes of one cell into those of a group of one.
func changesOf(changes []store.Change) []change {
	var out []change
	for _, c := range changes {
		if c.Label == derived && len(changes) > 1 {
			continue
		}
		out = append(out, change{brief(c.Label), brief(c.New), []string{brief(c.Old)}})
	}
	return out
}

// derived is the line of a key that follows from other lines: the drawn jobs.
const derived = "workload.jobs"

// brief shortens a long value, such as a hash.
func brief(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// shared keeps the changes that another cell has as well. Replicates differ in
// lines that follow from their seeds; these are not shown.
func shared(group, cell []change) []change {
	var both []change
	for _, g := range group {
		for _, c := range cell {
			if g.label != c.label || g.now != c.now {
				continue
			}
			if !slices.Contains(g.before, c.before[0]) {
				g.before = append(slices.Clone(g.before), c.before[0])
			}
			both = append(both, g)
			break
		}
	}
	return both
}

// label names a cell's variant, with its workload and hardware where the
// experiment has several.
func label(p *pipeline.Plan) func(record.CellRef) string {
	return func(c record.CellRef) string {
		var parts []string
		if len(p.Workloads) > 1 {
			parts = append(parts, c.Workload)
		}
		if len(p.Hardware) > 1 {
			parts = append(parts, c.Hardware)
		}
		return strings.Join(append(parts, c.Variant()), " / ")
	}
}

func (a *app) printGroup(g *group) {
	name := g.label
	if name == "" {
		name = count(g.variants, "variant", "variants")
	}
	does, ink := "run", yellow
	if g.reuse {
		does, ink = "reused", green
	}
	if g.cells == 1 && !g.reuse {
		does = "runs"
	} else if g.reuse && g.cells == 1 {
		does = "is reused"
	} else if g.reuse {
		does = "are reused"
	}
	text := fmt.Sprintf("%s: %s %s: %s", name, count(g.cells, "cell", "cells"), paint(a.outColor, ink, does), g.reason)
	if d := g.predicted; d > 0 && !g.reuse {
		text += ", about " + progress.Rough(d)
	}
	fmt.Fprintln(a.out, text)
	a.printChanges(g.changes)
}

// printChanges shows what changed since the last time, indented.
func (a *app) printChanges(changes []change) {
	for i, c := range changes {
		if i == maxChanges {
			fmt.Fprintf(a.out, "    … and %d more\n", len(changes)-i)
			return
		}
		fmt.Fprintf(a.out, "    %s\n", c)
	}
}
