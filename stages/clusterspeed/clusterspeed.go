// Package clusterspeed has jobs with workers and parameter servers whose speed depends on the devices and regions of
// their parts. It adds the block `cluster` in runtime blocks, and a stage that evaluates the law of their speed. The
// stage reports the fit to an experiment's measured clusters, and predicts larger clusters from smaller ones.
package clusterspeed

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/clusterspeed/law"
)

var _ = stages.Register(&stages.Stage{
	Name:   "clusterspeed",
	Reads:  []stages.Artifact{stages.Cells}, // its key has the whole plan: no cells are added later
	Writes: []stages.Artifact{stages.ExtraTables, stages.Sections},
	Files:  []string{ClusterSpeeds.File},
	Key: func(*stages.Run) ([]stages.KeyLine, error) {
		return []stages.KeyLine{{Label: "clusterspeed", Value: version}}, nil
	},
	Idle:   func(r *stages.Run) bool { return len(Asked.Of(r.Plan)) == 0 },
	Always: true,
	Run:    func(_ context.Context, r *stages.Run) error { return write(r.Dir, Asked.Of(r.Plan)) },
})

const (
	// version is part of the key: increase it when the table changes.
	version = "1"
	// least is the smallest number of workers of clusters that are left out of a fit.
	least = 5
)

// Asked are the measured clusters to which the laws of jobs were fitted, once for each file.
var Asked = stages.RegisterPlanMember("clusters", 20, func(x stages.PlanMemberInput) (out []MeasuredCluster) {
	seen := map[string]bool{}
	for _, cell := range x.Cells {
		for _, s := range cell.Workload.Submits {
			if c := speedOf(s.Job); c != nil && !seen[c.File] {
				seen[c.File] = true
				for _, m := range c.Samples {
					out = append(out, MeasuredCluster{
						File: c.File, Model: m.Model, Device: m.Device, Servers: m.Servers, Workers: m.Workers,
						Speed: m.StepsPerSecond,
					})
				}
			}
		}
	}
	return out
})

// MeasuredCluster is the measured speed of workers on one device type with parameter servers.
type MeasuredCluster struct {
	// File is the name of the table in the experiment.
	File    string  `json:"file" csv:"file"`
	Model   string  `json:"model,omitempty" csv:"model"`
	Device  string  `json:"device" csv:"gpu"`
	Servers int     `json:"parameter_servers" csv:"parameter_servers"`
	Workers int     `json:"workers" csv:"workers"`
	Speed   float64 `json:"steps_per_s" csv:"steps_per_s"`
}

// ClusterSpeeds is the table of measured and predicted speeds. It exists only if a job has a table of measured
// clusters.
var ClusterSpeeds = table.Register[ClusterSpeedRow]("cluster_speed.csv", nil)

// ClusterSpeedRow is a row of cluster_speed.csv: a measured cluster and predictions of its speed.
type ClusterSpeedRow struct {
	MeasuredCluster
	// Fitted is the speed by the law fitted to all rows. ErrorPct is its error in percent: 100 × (Fitted − Speed) /
	// Speed.
	Fitted   float64 `csv:"fitted"`
	ErrorPct float64 `csv:"error_pct"`
	// LeftOut reports whether larger clusters were left out of the fit for the following predictions; in other rows
	// they are NaN. The predictions are by both forms of the law, without a limit of parameter servers, and by a
	// straight line.
	LeftOut   bool    `csv:"left_out"`
	Queued    float64 `csv:"queued"`
	Apart     float64 `csv:"apart"`
	Unlimited float64 `csv:"unlimited"`
	Linear    float64 `csv:"linear"`
}

// write writes cluster_speed.csv, or deletes it if no cluster was measured.
func write(dir string, all []MeasuredCluster) error {
	var rows []ClusterSpeedRow
	for _, file := range files(all) {
		measured := of(all, file)
		predictions, err := law.LeaveOut(samples(measured), least)
		if err != nil {
			return fmt.Errorf("evaluate the law of cluster speeds: %w", err)
		}
		for i, p := range predictions {
			rows = append(rows, ClusterSpeedRow{
				MeasuredCluster: measured[i], Fitted: p.Fitted, ErrorPct: 100 * (p.Fitted/p.StepsPerSecond - 1),
				LeftOut: p.LeftOut, Queued: p.Queued, Apart: p.Apart, Unlimited: p.Unlimited, Linear: p.Linear,
			})
		}
	}
	return ClusterSpeeds.Replace(dir, rows)
}

var part = analysis.Register(analysis.Part{
	Name: "section-cluster_speed", Title: "Speed of clusters", InReport: analysis.Verdicts + 100,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rows, err := ClusterSpeeds.Read(e.Dir)
		if err != nil || len(rows) == 0 {
			return s, err
		}
		said := table.Item{Plain: true}
		view := table.Item{Folded: true, Table: table.New(4, "table", "model", "GPU", "parameter servers", "clusters "+
			"left out",
			"error, queued (%)", "error, apart (%)", "error, no limit (%)", "error, straight line (%)")}
		for _, file := range files(Asked.Of(&e.Plan)) {
			measured := of(Asked.Of(&e.Plan), file)
			var predictions []law.Prediction
			for _, r := range rows {
				if r.File == file {
					predictions = append(predictions, law.Prediction{Sample: samples([]MeasuredCluster{r.MeasuredCluster})[0],
						Fitted: r.Fitted, LeftOut: r.LeftOut, Queued: r.Queued, Apart: r.Apart, Unlimited: r.Unlimited, Linear: r.Linear})
				}
			}
			if err := describe(&said, &view.Table, file, measured, predictions); err != nil {
				return s, err
			}
		}
		s.Report = []table.Item{said, view}
		return s, nil
	},
})

// files lists the files of the measured clusters, in the order of the plan.
func files(all []MeasuredCluster) []string {
	var out []string
	for _, m := range all {
		if !slices.Contains(out, m.File) {
			out = append(out, m.File)
		}
	}
	return out
}

func of(all []MeasuredCluster, file string) []MeasuredCluster {
	return slices.DeleteFunc(slices.Clone(all), func(m MeasuredCluster) bool { return m.File != file })
}

func samples(measured []MeasuredCluster) []law.Sample {
	out := make([]law.Sample, len(measured))
	for i, m := range measured {
		out[i] = law.Sample{Model: m.Model, Device: m.Device, Servers: m.Servers, Workers: m.Workers,
			StepsPerSecond: m.Speed}
	}
	return out
}

// errors has the mean absolute errors of several predictions, in percent.
type errors struct {
	n                                        int
	fitted, queued, apart, unlimited, linear mean
}

// mean is the mean of the finite values added to it.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) {
	if !math.IsNaN(v) {
		m.sum, m.n = m.sum+v, m.n+1
	}
}

func (m mean) String() string {
	if m.n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*m.sum/float64(m.n))
}

func (e *errors) add(p law.Prediction) {
	e.n++
	e.fitted.add(p.Error(p.Fitted))
	e.queued.add(p.Error(p.Queued))
	e.apart.add(p.Error(p.Apart))
	e.unlimited.add(p.Error(p.Unlimited))
	e.linear.add(p.Error(p.Linear))
}

func (e errors) row(labels ...string) []string {
	return append(labels, fmt.Sprint(e.n), e.queued.String(), e.apart.String(), e.unlimited.String(), e.linear.String())
}

// describe adds the description of one table: fitted laws as sentences, and errors by group as rows.
func describe(s *table.Item, t *table.Table, file string, measured []MeasuredCluster,
	predictions []law.Prediction) error {
	var whole, left errors
	type group struct {
		model, device string
		servers       int
	}
	var groups []group
	of := map[group]*errors{}
	for _, p := range predictions {
		whole.add(p)
		if !p.LeftOut {
			continue
		}
		left.add(p)
		g := group{p.Model, p.Device, p.Servers}
		if of[g] == nil {
			groups, of[g] = append(groups, g), &errors{}
		}
		of[g].add(p)
	}
	fitted, err := law.Fit(samples(measured), law.Queued)
	if err != nil {
		return fmt.Errorf("describe the law of cluster speeds: %w", err)
	}
	s.Sentences = append(s.Sentences,
		fmt.Sprintf("The law fitted to all %d clusters of %s misses their speed by %s%% on average: "+
			"n parameter servers serve c·n^e steps/s, with a sharpness of p.", len(measured), file, whole.fitted))
	for _, m := range fitted.Models {
		name := m.Name
		name = cmp.Or(name, "The model")
		text := fmt.Sprintf("%s: c = %s steps/s, e = %s, p = %s;", name, table.Number(m.Limit), table.Number(m.Exponent),
			table.Number(m.Sharpness))
		for i, r := range m.Rates {
			if i > 0 {
				text += ","
			}
			text += fmt.Sprintf(" %s steps/s of a worker on %s", table.Number(r.StepsPerSecond), r.Device)
		}
		s.Sentences = append(s.Sentences, text+".")
	}
	if left.n == 0 {
		s.Sentences = append(s.Sentences,
			fmt.Sprintf("%s has no clusters of %d workers or more, which could be predicted from smaller ones.",
				file, least))
		return nil
	}
	s.Sentences = append(s.Sentences,
		fmt.Sprintf("Clusters of %d workers or more, each group of them left out of the fit in turn, "+
			"are predicted with a mean absolute error of %s%%; of %s%% where workers do not wait while they are served, "+
			"of %s%% "+
			"without a limit of the parameter servers, and of %s%% on a straight line through the smaller clusters.", least,
			left.queued, left.apart, left.unlimited, left.linear))
	for _, g := range groups {
		t.Add(of[g].row(file, g.model, g.device, fmt.Sprint(g.servers))...)
	}
	t.Add(left.row(file, "all", "", "")...)
	return nil
}
