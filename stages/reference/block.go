package reference

import (
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// referenceArgs are the arguments of a reference block.
//
// Shows published numbers beside yours, from a CSV file whose first line names its columns. Columns named `workload`,
// `hardware`, `policy`, `replicate` or as an axis of the matrix choose the cells of a row; an empty field, or a missing
// column, means all. Columns named as metrics have the numbers. The report shows them next to the means over these
// cells (references.csv).
//
//	reference "paper" {
//	  file = "paper.csv"
//	  doc  = "Table 2"
//	}
type referenceArgs struct {
	// The CSV file, relative to the folder of the experiment file.
	//
	//	file = "paper.csv"
	File string `arg:"file,required"`
	// The names of columns that differ from the expected names.
	//
	//	columns = { makespan_s = "duration", servers = "cluster" }
	Columns []schema.Setting `arg:"columns"`
	// The rows that count: by column, the text that they must have.
	//
	// Default: all rows.
	//
	//	where = { instance = "v100" }
	Where []schema.Setting `arg:"where"`
	// The policy to which the numbers are relative: 0.7 means 30% less than this policy. The result of
	// tfexp is the mean over the cells, divided by the mean over the cells of this policy at the same values of the
	// other axes.
	//
	// Default: the numbers are not relative.
	//
	//	relative_to = policy.fcfs
	RelativeTo string `arg:"relative_to" type:"policy"`
	// The source of the numbers, for the report.
	//
	//	doc = "Means of the authors' own tables."
	Doc string `arg:"doc"`
}

//go:embed block.go
var source embed.FS

var _ = schema.Document("reference", source)

func init() {
	language.Extend("reference", language.File, language.Extension[experiment.Spec]{
		Blocks: func() []*schema.Block {
			return []*schema.Block{schema.BlockFor[referenceArgs](schema.Block{
				Name: "reference", Label: "name of the reference, for the report", Unique: true,
			})}
		},
		AfterCells: func(d *language.Decoder, s *experiment.Spec) {
			if list := decode(d, s); len(list) > 0 {
				s.Parts = append(s.Parts, list)
			}
		},
	})
}

// Reference has published numbers that are compared with the experiment's results.
type Reference struct {
	Name string `json:"name"`
	File string `json:"file"`
	Doc  string `json:"doc,omitempty"`
	// RelativeTo is the policy by whose metrics the numbers are divided; empty if they are not relative.
	RelativeTo string `json:"relative_to,omitempty"`
	Rows       []Row  `json:"rows"`
}

// Row has published numbers for cells with given values of axes. "workload", "hardware", "policy" and "replicate" count
// as axes here.
type Row struct {
	At     []schema.Setting `json:"at"`
	Values []Value          `json:"values"`
}

// Value is a published value of a metric.
type Value struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
}

// references is the part of an experiment with its reference blocks.
type references []Reference

// decode decodes the reference blocks of a file.
func decode(d *language.Decoder, s *experiment.Spec) (list references) {
	whole := !d.Failed() // if decoding has failed, cells or axes may be missing
	for _, n := range d.Root.All("reference") {
		var v referenceArgs
		a := d.Decode(n, d.Global, &v)
		if !a.OK || !whole {
			continue
		}
		t := referenceTable{spec: s, columns: map[string]string{}, where: v.Where}
		for _, c := range v.Columns {
			t.columns[c.Value] = c.Name
		}
		from := d.Find(v.File)
		if _, ok := datafile.EachRow(d, a, a.At("file"), from, v.Where, t.head, t.row); !ok {
			continue
		}
		if len(t.rows) == 0 && len(t.where) > 0 {
			continue // the file has no numbers about this experiment
		}
		if len(t.rows) == 0 {
			a.Fail(a.At("file"), "Table without rows", "%s has no rows.", from.Shown)
			continue
		}
		list = append(list, Reference{
			Name: n.Label, File: v.File, Doc: v.Doc, Rows: t.rows,
			RelativeTo: d.PolicyThatRuns(a, "relative_to", s.Cells),
		})
	}
	return list
}

// referenceTable reads the rows of a reference file.
type referenceTable struct {
	spec    *experiment.Spec
	columns map[string]string // the content of a column, by the column's name
	facts   []string          // axis of each column; empty for a metric
	metrics []string          // metric of each column
	where   []schema.Setting
	chosen  []int // column numbers of where
	rows    []Row
	lines   map[string]int // the line that has a number for a cell and metric
}

// places are the names, besides axes, by which a row can select cells.
var places = []string{"workload", "hardware", "policy", "replicate"}

func (t *referenceTable) head(columns []string) (err error) {
	numbers := 0
	seen := map[string]string{} // the column for each axis or metric
	if t.chosen, err = datafile.PlacesOf(columns, datafile.NamesOf(t.where)); err != nil {
		return err
	}
	for i, name := range columns {
		if slices.Contains(t.chosen, i) {
			t.facts, t.metrics = append(t.facts, ""), append(t.metrics, "")
			continue
		}
		column := name
		if is, ok := t.columns[name]; ok {
			name = is
		}
		fact, metric := "", ""
		if slices.Contains(places, name) || slices.Contains(t.spec.Axes, name) {
			fact = name
		} else if i := slices.IndexFunc(language.Metrics(), func(m string) bool { return m == name || m == name+"_s" }); i >= 0 {
			metric = language.Metrics()[i]
			numbers++
		} else {
			return fmt.Errorf("the column %q is neither an axis nor a metric: there are the axes %s, and the metrics are the "+
				"columns of metrics.csv", name, strings.Join(append(slices.Clone(places), t.spec.Axes...), ", "))
		}
		switch before, twice := seen[fact+metric]; {
		case twice && before == column:
			return fmt.Errorf("the column %q is there twice", column)
		case twice:
			return fmt.Errorf("the columns %q and %q both hold %s", before, column, fact+metric)
		}
		seen[fact+metric] = column
		t.facts, t.metrics = append(t.facts, fact), append(t.metrics, metric)
	}
	if numbers == 0 {
		return fmt.Errorf("no column is a metric: these are called as the columns of metrics.csv")
	}
	return nil
}

func (t *referenceTable) row(line int, fields []string) error {
	var r Row
	for i, text := range fields {
		text = strings.TrimSpace(text)
		switch {
		case text == "" || slices.Contains(t.chosen, i):
		case t.facts[i] != "":
			r.At = append(r.At, record.Setting{Name: t.facts[i], Value: text})
		default:
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s %q is not a number", t.metrics[i], text)
			}
			most := math.Inf(1)
			if m, ok := measure.MetricByName(t.metrics[i]); ok && m.Most > 0 || m.Name == measure.FinalAccuracy.Name {
				most = 1
			}
			if v > most || v < 0 && t.metrics[i] != measure.FinalLoss.Name {
				return fmt.Errorf("the %s cannot be %s: %s", t.metrics[i], text, possible(most))
			}
			r.Values = append(r.Values, Value{Metric: t.metrics[i], Value: v})
		}
	}
	for _, at := range r.At {
		if n, err := strconv.Atoi(at.Value); at.Name == "replicate" && err == nil && n > t.spec.Replicates {
			return nil // the row is for a replicate that does not run
		}
	}
	if !t.planned(r) {
		return fmt.Errorf("no cell of the experiment is at %s", record.AxesLabel(r.At))
	}
	for _, v := range r.Values {
		at := record.AxesLabel(append(slices.Clone(r.At), record.Setting{Name: "metric", Value: v.Metric}))
		if before, ok := t.lines[at]; ok {
			return fmt.Errorf("the %s has a number there already, on line %d", v.Metric, before)
		}
		if t.lines == nil {
			t.lines = map[string]int{}
		}
		t.lines[at] = line
	}
	t.rows = append(t.rows, r)
	return nil
}

// possible describes the possible values of a metric.
func possible(most float64) string {
	if math.IsInf(most, 1) {
		return "it is never below 0"
	}
	return "it is between 0 and 1, 0.93 for 93%"
}

// planned reports whether the experiment has a cell for a row.
func (t *referenceTable) planned(r Row) bool {
	return slices.ContainsFunc(t.spec.Cells, func(c experiment.Cell) bool {
		for _, s := range r.At {
			is := s.Value
			switch s.Name {
			case "workload":
				is = c.Workload.Name
			case "hardware":
				is = c.Hardware.Name
			case "policy":
				is = c.Policy.Name
			case "replicate":
				if n, err := strconv.Atoi(s.Value); err != nil || n < 1 || n > t.spec.Replicates {
					return false
				}
			default:
				for _, a := range c.Axes {
					if a.Name == s.Name {
						is = a.Value
					}
				}
			}
			if is != s.Value {
				return false
			}
		}
		return true
	})
}
