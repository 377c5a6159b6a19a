package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
)

// patienceRow is a row of a table that only this test registers: the mean waiting time of a cell's jobs.
type patienceRow struct {
	Cell    string  `csv:"cell"`
	Waiting float64 `csv:"waiting_s"`
	Patient bool    `csv:"patient"`
}

var patience = table.Register[patienceRow]("patience.csv", nil)

func init() {
	stages.Register(&stages.Stage{
		Name: "patience", Reads: []stages.Artifact{stages.Tables}, Writes: []stages.Artifact{"patience", stages.Sections},
		Files: []string{patience.File}, Always: true,
		Idle: func(r *stages.Run) bool {
			return !slices.ContainsFunc(r.Plan.Hardware, func(h record.Named) bool { return h.Name == "patient" })
		},
		Key: func(*stages.Run) ([]stages.KeyLine, error) {
			return []stages.KeyLine{{Label: "patience", Value: "1"}}, nil
		},
		Run: func(_ context.Context, r *stages.Run) error {
			e, err := record.Open(r.Dir)
			if err != nil {
				return err
			}
			var rows []patienceRow
			for _, c := range e.Cells {
				if c.Hardware == "patient" {
					rows = append(rows, patienceRow{c.Cell, measure.MeanWaiting.Of(&c.Metrics), true})
				}
			}
			return patience.Replace(r.Dir, rows)
		},
	})
	analysis.Register(analysis.Part{
		Name: "patience", Title: "Patience", InReport: analysis.Verdicts + 300, OnTerminal: analysis.Verdicts + 300,
		Tell: func(e *record.Experiment) (s table.Section, err error) {
			rows, err := patience.Read(e.Dir)
			if err != nil || len(rows) == 0 {
				return s, err
			}
			t := table.New(1, "cell", "waiting (s)")
			for _, r := range rows {
				t.Add(r.Cell, table.Number(r.Waiting))
			}
			told := []table.Item{{Sentences: []string{"Jobs are patient here."}}, {Table: t, Note: "Means over jobs."}}
			return table.Section{Terminal: told, Report: told}, nil
		},
	})
}

// A table with a section needs one file, which registers both. Then the folder of results, the terminal, the report and
// the export support the table.
func TestNewTable(t *testing.T) {
	s := inSandbox(t, strings.NewReplacer(`hardware "sim"`, `hardware "patient"`, `plot "bars" { metric = "longest_wait" }`, "").
		Replace(newMetricFile))
	contains(t, "the summary", s.run(), "Jobs are patient here.")
	s.holds("patience.csv", "cell,waiting_s,patient\nw-patient-fcfs-r1,")
	s.holds("report.html", `<details id="patience"><summary>Patience</summary>`, "<li>Jobs are patient here.</li>", "Means over jobs.")
	contains(t, "the help of export table", outputOf(t, "export", "table", "--help"), "patience")
	for format, want := range map[string]string{
		"csv": "cell,waiting_s,patient\n", "jsonl": `"patient":true}`, "json": `[
{"cell":"w-patient-fcfs-r1","waiting_s":`,
		"latex": `cell & patient & waiting\_s`, "markdown": "| cell | patient | waiting_s |",
	} {
		contains(t, format, outputOf(t, "export", "table", "patience", "--dir", s.out, "--format", format),
			strings.ReplaceAll(want, `\n`, "\n"))
	}
	contains(t, "a table of a cell", outputOf(t, "export", "table", "occupancy", "--dir", s.out, "--cell", "w-patient-fcfs-r1"),
		`"cores_held":0,"running":0,"queued":0,"paused":0}`)
}
