package show

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
)

// maxGroups is the largest number of groups of cells that are printed: a matrix may have thousands of variants.
const maxGroups = 40

// maxChanges is the largest number of changed lines that are printed for a group of cells.
const maxChanges = 6

// plannedCell is a cell in the output of plan --json.
type plannedCell struct {
	record.CellRef
	pipeline.CellWork
	PredictedSeconds float64 `json:"predicted_seconds,omitempty"`
}

// PlannedRun is the output of plan --json. Cells are in the order in which they run.
type PlannedRun struct {
	Experiment       string        `json:"experiment"`
	Dir              string        `json:"dir"`
	Run              int           `json:"run"`
	Reuse            int           `json:"reuse"`
	PredictedSeconds float64       `json:"predicted_seconds,omitempty"`
	Cells            []plannedCell `json:"cells"`
	// Pieces are results that stages reuse later, such as samples of jobs.
	Pieces []plannedPiece `json:"profiles"`
	Stale  []string       `json:"stale,omitempty"`
	// Expected has forecasts of features about the run, each as a JSON value.
	Expected []any `json:"expected,omitempty"`
}

// plannedPiece is a piece in the output of plan --json.
type plannedPiece struct {
	Stage   string         `json:"stage"`
	Name    string         `json:"name"`
	Reuse   bool           `json:"reuse"`
	Reason  string         `json:"reason"`
	Changes []store.Change `json:"changes,omitempty"`

	details any // further fields, which depend on the stage
}

// MarshalJSON writes the fields of details next to the other fields.
func (p plannedPiece) MarshalJSON() ([]byte, error) {
	type plain plannedPiece // plain has no MarshalJSON, so encoding does not recurse
	fields := map[string]json.RawMessage{}
	for _, part := range []any{p.details, plain(p)} {
		raw, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
}

// PlanJSON returns the output of plan --json.
func PlanJSON(plan *pipeline.Plan, expected []stages.Expectation) PlannedRun {
	run, reuse := totals(plan)
	out := PlannedRun{
		Experiment: plan.Experiment, Dir: plan.Dir, Run: run, Reuse: reuse,
		PredictedSeconds: predicted(plan).Seconds(),
		Cells:            make([]plannedCell, 0, len(plan.Cells)),
		Pieces:           make([]plannedPiece, 0, len(plan.Pieces)),
		Stale:            plan.Stale,
	}
	for _, e := range expected {
		out.Expected = append(out.Expected, e.Value)
	}
	for _, i := range plan.RunOrder {
		out.Cells = append(out.Cells, plannedCell{plan.Cells[i], plan.Work[i], plan.Work[i].Predicted.Seconds()})
	}
	for _, w := range plan.Pieces {
		out.Pieces = append(out.Pieces, plannedPiece{
			Stage: w.Stage.Name, Name: w.Name, Reuse: w.Reuse, Reason: w.Reason, Changes: w.Changes, details: w.Details,
		})
	}
	return out
}

// totals returns the number of cells that run and of cells that are reused.
func totals(plan *pipeline.Plan) (run, reuse int) {
	for _, w := range plan.Work {
		if w.Reuse {
			reuse++
		}
	}
	return len(plan.Work) - reuse, reuse
}

// predicted returns the predicted time of the cells that run; 0 if it is unknown for one of them. Simulated cells count
// as 0.
func predicted(plan *pipeline.Plan) time.Duration {
	var sum time.Duration
	for i, w := range plan.Work {
		switch {
		case w.Reuse:
		case w.Predicted == 0 && plan.Cells[i].Real():
			return 0
		default:
			sum += w.Predicted
		}
	}
	return sum
}

// Headline summarizes a plan: "fcfs_vs_rr: 10 cells, 4 of them reused, 6 run, about 20 s".
func Headline(plan *pipeline.Plan) string {
	run, reuse := totals(plan)
	text := plan.Experiment + ": " + Count(len(plan.Cells), "cell", "cells")
	switch {
	case len(plan.Cells) == 0:
		text = plan.Experiment + ": controllers decide"
		if pieces := missing(plan); len(pieces) > 0 {
			return text + ", after " + strings.Join(pieces, " and ")
		}
		return text + ", with nothing to train before"
	case run == 0:
		return text + ", all reused: nothing to run"
	case reuse == 0:
		text += " to run"
	default:
		text += fmt.Sprintf(", %d reused, %d to run", reuse, run)
	}
	if pieces := missing(plan); len(pieces) > 0 {
		text += ", after " + strings.Join(pieces, " and ")
	}
	if n := plan.FollowingCells(); n > 0 {
		text += fmt.Sprintf(", then at most %d that follow from their results", n)
	}
	if d := predicted(plan); d > 0 {
		text += ", about " + live.Rough(d)
	}
	return text
}

// missing returns what stages must make before the cells run, as texts such as "12 profiling samples".
func missing(plan *pipeline.Plan) (counts []string) {
	for i, w := range plan.Pieces {
		if i > 0 && plan.Pieces[i-1].Stage == w.Stage {
			continue
		}
		n := 0
		for _, other := range plan.Pieces[i:] {
			if other.Stage == w.Stage && !other.Reuse {
				n += other.Count
			}
		}
		if n > 0 {
			counts = append(counts, Count(n, w.Stage.Pieces.Noun, w.Stage.Pieces.Noun+"s"))
		}
	}
	return counts
}

// unforeseen returns why the run's time cannot be predicted; empty if it can, or if nothing runs for real.
func unforeseen(plan *pipeline.Plan) string {
	unknown := 0
	for i, w := range plan.Work {
		if !w.Reuse && w.Predicted == 0 && plan.Cells[i].Real() {
			unknown++
		}
	}
	if unknown == 0 {
		return ""
	}
	return fmt.Sprintf("time of %s: unknown until the jobs are profiled (runtime blocks would give it now)",
		Count(unknown, "real cell", "real cells"))
}

// Plan prints a plan. With cells it lists every cell, otherwise groups of cells.
func (p *Printer) Plan(plan *pipeline.Plan, expected []stages.Expectation, cells bool) error {
	fmt.Fprintln(p.Out, Headline(plan))
	if text := unforeseen(plan); text != "" {
		fmt.Fprintln(p.Out, text)
	}
	if len(plan.Cells) > 0 {
		fmt.Fprintln(p.Out)
	}
	if cells {
		if err := p.cells(plan); err != nil {
			return err
		}
	} else {
		for _, g := range groups(plan) {
			p.group(g)
		}
	}
	p.pieces(plan.Pieces)
	for _, e := range expected {
		for _, l := range e.Lines {
			fmt.Fprintln(p.Out, strings.TrimSuffix(l.Text+", about "+rough(l.Took), ", about "))
		}
	}
	if n := len(plan.Stale); n > 0 {
		fmt.Fprintf(p.Out, "\n%s no longer in the plan: a run deletes such folders, but the cache keeps their results\n",
			Count(n, "cell on disk is", "cells on disk are"))
	}
	return nil
}

// pieces prints the pieces of each stage. Many pieces are grouped by the reason why they are made or reused.
func (p *Printer) pieces(all []pipeline.PieceWork) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Stage == all[0].Stage {
			n++
		}
		own := all[:n]
		all = all[n:]
		fmt.Fprintf(p.Out, "\n%s:\n", own[0].Stage.Pieces.Title)
		if n > maxGroups {
			var reasons []string
			counts, all := map[string]int{}, 0 // counted as in missing
			for _, w := range own {
				if counts[w.Reason] == 0 {
					reasons = append(reasons, w.Reason)
				}
				counts[w.Reason] += w.Count
				all += w.Count
			}
			for _, reason := range reasons {
				fmt.Fprintf(p.Out, "  %d of %d: %s\n", counts[reason], all, reason)
			}
			continue
		}
		for _, w := range own {
			fmt.Fprintf(p.Out, "  %s %s: %s\n", w.Name, w.Text, w.Reason)
			p.Changes(w.Changes)
		}
	}
}

func (p *Printer) cells(plan *pipeline.Plan) error {
	t := table.New(3, "cell", "", "why", "predicted")
	for _, i := range plan.RunOrder {
		t.Add(plan.Cells[i].Cell, verb(plan.Work[i].Reuse), plan.Work[i].Reason, rough(plan.Work[i].Predicted))
	}
	return t.Write(p.Out, "", p.Color)
}

func rough(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return live.Rough(d)
}

func verb(reuse bool) string {
	if reuse {
		return "reuse"
	}
	return "run"
}

// group is a group of cells of one variant with the same reason to run or to be reused.
type group struct {
	label     string
	variants  int // number of variants in the group
	cells     int
	reuse     bool
	reason    string
	changes   []change
	predicted time.Duration
}

// groups groups cells by variant and reason, in the order of the file. If this makes more than maxGroups groups, they
// are grouped by reason only.
func groups(plan *pipeline.Plan) []*group {
	byVariant := collect(plan, label(plan))
	if len(byVariant) <= maxGroups {
		return byVariant
	}
	return collect(plan, func(record.CellRef) string { return "" })
}

func collect(plan *pipeline.Plan, label func(record.CellRef) string) []*group {
	type id struct {
		label, reason string
		reuse         bool
	}
	var all []*group
	at := map[id]*group{}
	variants := map[*group]map[string]bool{}
	for i, c := range plan.Cells {
		w := plan.Work[i]
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

// change is a changed line in the keys of a group's cells. All cells have the same new value; old values may differ.
type change struct {
	label, now string
	before     []string
}

// maxBefore is the largest number of old values that are printed.
const maxBefore = 3

func (c change) String() string {
	before := strings.Join(c.before[:min(len(c.before), maxBefore)], " or ")
	if len(c.before) > maxBefore {
		before += " or others"
	}
	return store.Change{Label: c.label, Old: before, New: c.now}.String()
}

// changesOf converts the changes of one cell.
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

// derived is the label of a key's line that follows from other lines: the hash of the drawn jobs.
const derived = "workload.jobs"

// brief shortens a long value, such as a hash.
func brief(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// shared returns the changes of a group that another cell has as well. Replicates also differ in lines that follow from
// their seeds; these are omitted.
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

// label returns a function that names a cell's variant. The name includes workload and hardware if the experiment has
// several.
func label(plan *pipeline.Plan) func(record.CellRef) string {
	return func(c record.CellRef) string {
		var parts []string
		if len(plan.Workloads) > 1 {
			parts = append(parts, c.Workload)
		}
		if len(plan.Hardware) > 1 {
			parts = append(parts, c.Hardware)
		}
		if c.Beyond == nil {
			return strings.Join(append(parts, c.Variant()), " / ")
		}
		if len(plan.Workloads) <= 1 { // the policy is not in the experiment file
			parts = append(parts, c.Workload)
		}
		if axes := record.AxesLabel(c.Axes); axes != "" {
			parts = append(parts, axes)
		}
		return strings.Join(parts, " / ")
	}
}

func (p *Printer) group(g *group) {
	name := g.label
	if name == "" {
		name = Count(g.variants, "variant", "variants")
	}
	does, ink := "run", table.Yellow
	if g.reuse {
		does, ink = "reused", table.Green
	}
	if g.cells == 1 && !g.reuse {
		does = "runs"
	} else if g.reuse && g.cells == 1 {
		does = "is reused"
	} else if g.reuse {
		does = "are reused"
	}
	text := fmt.Sprintf("%s: %s %s: %s", name, Count(g.cells, "cell", "cells"), p.Paint(ink, does), g.reason)
	if d := g.predicted; d > 0 && !g.reuse {
		text += ", about " + live.Rough(d)
	}
	fmt.Fprintln(p.Out, text)
	p.changes(g.changes)
}

// changes prints changes since the last run, indented.
func (p *Printer) changes(changes []change) {
	for i, c := range changes {
		if i == maxChanges {
			fmt.Fprintf(p.Out, "    … and %d more\n", len(changes)-i)
			return
		}
		fmt.Fprintf(p.Out, "    %s\n", c)
	}
}

// Changes prints the changed lines of a cell's key, indented.
func (p *Printer) Changes(changes []store.Change) { p.changes(changesOf(changes)) }
