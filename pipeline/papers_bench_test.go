package pipeline

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/stages/experiment"
)

// BenchmarkPapers reports how many jobs of published traces are simulated per second, under the policies of the
// papers that use these traces, with all records. It uses the seconds between a cell's first and last event in
// timings.csv.
func BenchmarkPapers(b *testing.B) {
	for _, one := range []struct{ file, policy string }{
		{"gavel.hcl", "max_min"}, {"gavel.hcl", "makespan"}, {"gavel.hcl", "finish_time_fairness"}, {"gavel.hcl", "fifo"},
		{"gavel.hcl", "max_min_blind"}, {"tiresias.hcl", "tiresias"}, {"pollux.hcl", "optimus"}, {"pollux.hcl", "pollux"},
	} {
		b.Run(one.file+"/"+one.policy, func(b *testing.B) {
			if one.policy == "pollux" {
				large(b)
			}
			for b.Loop() {
				spec, diags := decode.File(filepath.Join("..", "experiments", "papers", one.file), decode.Options{})
				if diags.HasErrors() {
					b.Fatal(diags)
				}
				spec.Cells = slices.DeleteFunc(spec.Cells, func(c experiment.Cell) bool { return c.Policy.Name != one.policy })
				out := b.TempDir()
				p, err := New(spec, Options{Out: out})
				if err != nil {
					b.Fatal(err)
				}
				if o, err := p.Run(context.Background()); err != nil || o.Ran != len(spec.Cells) || o.Failed > 0 {
					b.Fatalf("%d of %d cells ran, %d failed: %v", o.Ran, len(spec.Cells), o.Failed, err)
				}
				dir := filepath.Join(out, spec.Name)
				b.ReportMetric(float64(len(column(b, dir, "jobs.csv", "cell")))/sum(b, column(b, dir, "timings.csv", "seconds")),
					"jobs/s")
			}
		})
	}
}

// column returns the values of a column of a table.
func column(b *testing.B, dir, file, name string) []string {
	b.Helper()
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		b.Fatalf("%s: %v", file, err)
	}
	i := slices.Index(rows[0], name)
	if i < 0 {
		b.Fatalf("%s has no column %q", file, name)
	}
	var values []string
	for _, row := range rows[1:] {
		values = append(values, row[i])
	}
	return values
}

func sum(b *testing.B, numbers []string) float64 {
	b.Helper()
	total := 0.0
	for _, text := range numbers {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			b.Fatal(err)
		}
		total += x
	}
	return total
}
