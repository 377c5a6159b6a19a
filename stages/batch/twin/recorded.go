package twin

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
)

// Waits has the waiting times, in seconds, of a group of jobs of a workload.
type Waits struct {
	Workload string  `json:"workload" csv:"workload"`
	By       string  `json:"by" csv:"by"`
	Group    string  `json:"group" csv:"group"`
	Jobs     int     `json:"jobs" csv:"jobs"`
	Mean     float64 `json:"mean_s" csv:"recorded_mean_s"`
	Median   float64 `json:"median_s" csv:"recorded_median_s"`
	P90      float64 `json:"p90_s" csv:"recorded_p90_s"`
}

// mostGroups is the number of groups of each kind that are compared: the groups with the most jobs.
const mostGroups = 20

// sizes are the upper bounds of groups by cores; the last group has more cores.
var sizes = []int{1, 16, 64, 256, 1024}

func sizeOf(cores int) string {
	for _, n := range sizes {
		if cores <= n {
			return "up to " + schema.Plural(n, "core")
		}
	}
	return "more"
}

// collected has waiting times by group.
type collected map[[2]string][]float64

func (c collected) add(partition, user string, cores int, wait float64) {
	for _, k := range [][2]string{{"all", "all"}, {"partition", partition}, {"user", user}, {"cores", sizeOf(cores)}} {
		c[k] = append(c[k], wait)
	}
}

// summarize returns the groups: all jobs first, then by kind, the groups with most jobs first.
func (c collected) summarize(workload string) []Waits {
	var list []Waits
	for k, waits := range c {
		slices.Sort(waits)
		sum := 0.0
		for _, w := range waits {
			sum += w
		}
		list = append(list, Waits{workload, k[0], k[1], len(waits), sum / float64(len(waits)), stats.Quantile(waits, 0.5),
			stats.Quantile(waits, 0.9)})
	}
	slices.SortFunc(list, func(a, b Waits) int {
		return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Group, b.Group))
	})
	seen := map[string]int{}
	return slices.DeleteFunc(list, func(w Waits) bool { seen[w.By]++; return seen[w.By] > mostGroups })
}

// asked returns the recorded waiting times of the workloads whose traces have starts.
var asked = stages.RegisterPlanMember("recorded_groups", 70, func(x stages.PlanMemberInput) (all []Waits) {
	seen := map[string]bool{}
	for _, c := range x.Cells {
		t := c.Workload.Trace
		if t == nil || t.Waits == nil || seen[c.Workload.Name] {
			continue
		}
		seen[c.Workload.Name] = true
		by := collected{}
		for i := range t.Jobs {
			j := &t.Jobs[i]
			if j.Submission() != nil && t.Waits[i] >= 0 {
				by.add(j.Class, j.User, j.Threads, t.Waits[i].Seconds())
			}
		}
		all = append(all, by.summarize(c.Workload.Name)...)
	}
	return all
})

// Row is a row of recorded.csv: the recorded waits of a group, and the waits in the cell of a policy.
type Row struct {
	Cell   string `csv:"cell"`
	Policy string `csv:"policy"`
	Waits
	Mean2   float64 `csv:"twin_mean_s"`
	Median2 float64 `csv:"twin_median_s"`
	P902    float64 `csv:"twin_p90_s"`
}

// Recorded exists only where a trace has the starts of its jobs.
var Recorded = table.Register[Row]("recorded.csv", nil)

func init() {
	stages.Register(&stages.Stage{
		Name: "recorded_groups", Reads: []stages.Artifact{stages.Tables},
		Writes: []stages.Artifact{stages.ExtraTables, stages.Sections},
		Files:  []string{Recorded.File}, Always: true,
		Idle: func(r *stages.Run) bool { return len(asked.Of(r.Plan)) == 0 },
		Key: func(*stages.Run) ([]stages.KeyLine, error) {
			return []stages.KeyLine{{Label: "recorded_groups", Value: "1"}}, nil
		},
		Run: func(_ context.Context, r *stages.Run) error {
			if len(asked.Of(r.Plan)) == 0 {
				return Recorded.Replace(r.Dir, nil)
			}
			e, err := r.Results()
			if err != nil {
				return err
			}
			rows, err := besideRecorded(e)
			if err != nil {
				return err
			}
			return Recorded.Replace(r.Dir, rows)
		},
	})
}

// besideRecorded compares the waiting times of each cell with the recorded ones. They are the waits before the
// first start.
func besideRecorded(e *record.Experiment) (rows []Row, err error) {
	for _, c := range e.Cells {
		by := collected{}
		columns := []string{"class", "user", "threads_requested", "first_run_delay_s"}
		if err := e.EachJob(c.CellRef, columns, 1, func(j *record.JobRow) bool {
			by.add(j.Class, j.User, j.ThreadsRequested, j.FirstRunDelay)
			return true
		}); err != nil {
			return nil, err
		}
		simulated := by.summarize(c.Workload)
		for _, w := range asked.Of(&e.Plan) {
			i := slices.IndexFunc(simulated, func(s Waits) bool { return s.By == w.By && s.Group == w.Group })
			if w.Workload == c.Workload && i >= 0 {
				s := simulated[i]
				rows = append(rows, Row{c.Cell, c.Policy, w, s.Mean, s.Median, s.P90})
			}
		}
	}
	return rows, nil
}

var _ = analysis.Register(analysis.Part{
	Name: "recorded_groups", Title: "Recorded against twin, by group", InReport: analysis.Policies - 50,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rows, err := Recorded.Read(e.Dir)
		if err != nil || len(rows) == 0 {
			return s, err
		}
		t := table.New(3, "policy", "by", "group", "jobs", "recorded mean (s)", "twin mean (s)", "recorded median (s)",
			"twin median (s)", "recorded 90% (s)", "twin 90% (s)")
		for _, r := range averaged(e, rows) {
			t.Add(r.Policy, r.By, r.Group, strconv.Itoa(r.Jobs), table.Number(r.Mean), table.Number(r.Mean2),
				table.Number(r.Median), table.Number(r.Median2), table.Number(r.P90), table.Number(r.P902))
		}
		s.Report = []table.Item{{Table: t}}
		return s, nil
	},
})

// averaged returns a row for each policy and setting of axes: the means over replicates.
func averaged(e *record.Experiment, rows []Row) (list []Row) {
	variants := map[string]string{} // variant of a policy, by cell
	for _, c := range e.Plan.Cells {
		variants[c.Cell] = c.Variant()
	}
	at, cells := map[[4]string]int{}, map[[4]string]float64{}
	for _, r := range rows {
		r.Policy = variants[r.Cell]
		k := [...]string{r.Policy, r.Workload, r.By, r.Group}
		i, ok := at[k]
		if cells[k]++; !ok {
			at[k] = len(list)
			list = append(list, r)
			continue
		}
		sum := &list[i]
		for _, v := range [][2]*float64{{&sum.Mean2, &r.Mean2}, {&sum.Median2, &r.Median2}, {&sum.P902, &r.P902}} {
			*v[0] += (*v[1] - *v[0]) / cells[k]
		}
	}
	return list
}
