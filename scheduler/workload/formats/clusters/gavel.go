package clusters

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/scheduler/workload/throughput"
)

// The traces of the simulator of Gavel (D. Narayanan and others, OSDI 2020). They have one job per line.
var _ = formats.Register(&formats.Format{
	Name: "gavel", Rank: 8, Endings: []string{".trace"},
	Holds: formats.GPUs | formats.Deadlines,
	Doc: "The traces of Gavel: one job per line, with fields separated by tabs. The fields are job type, " +
		"command, working directory, name of the steps argument, whether it needs a data directory, steps, " +
		"workers, priority weight, SLO and arrival in seconds. A job's class is its type; it requests one " +
		"thread and one GPU for each worker. Its deadline is the SLO, in seconds after its arrival; an SLO " +
		"below 0 means no deadline. The run times follow from `throughputs`. Shockwave's simulator has lines " +
		"with 12 fields: after the workers comes the way in which the batch size changes, and before the " +
		"arrival the run time, which is not read. With `accordion` and `gns` the batch size changes at epochs " +
		"that depend on the model, its batch size and its workers, if `throughputs` has the larger batch " +
		"size. The job's speed is then the average over its training.",
	Reader: readGavel,
})

// The indexes of the fields of a line.
const (
	gavelType = iota
	gavelCommand
	gavelFolder
	gavelStepsName
	gavelNeedsData
	gavelSteps
	gavelWorkers
	gavelWeight
	gavelSLO
	gavelArrival
	gavelFields
)

func readGavel(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
	var b logs.Builder
	skipped, err := textfile.EachLine(file, r, o.Lenient, func(n int, line string) error {
		if strings.TrimSpace(line) == "" {
			return nil
		}
		return gavelJob(&b, n, strings.Split(line, "\t"))
	})
	if err != nil {
		return workload.Trace{}, err
	}
	return b.Finish(skipped), nil
}

func gavelJob(b *logs.Builder, line int, f []string) error {
	rule := ""
	if len(f) == gavelFields+2 {
		if rule = strings.TrimSpace(f[gavelWorkers+1]); rule == "static" {
			rule = ""
		}
		f = slices.Concat(f[:gavelWorkers+1], f[gavelWorkers+2:gavelArrival+1], f[gavelArrival+2:])
	}
	if len(f) != gavelFields {
		return fmt.Errorf("%d fields instead of %d (or %d), separated by tabs", len(f), gavelFields, gavelFields+2)
	}
	if strings.TrimSpace(f[gavelType]) == "" {
		return fmt.Errorf("the job has no type")
	}
	steps, err := strconv.ParseFloat(strings.TrimSpace(f[gavelSteps]), 64)
	if err != nil || !(steps > 0) || steps > 1e15 || steps != math.Trunc(steps) {
		return fmt.Errorf("%q is not a number of steps", f[gavelSteps])
	}
	if rule != "" {
		if err := throughput.CheckBatchRule(rule, f[gavelType], steps); err != nil {
			return err
		}
	}
	workers, err := strconv.Atoi(strings.TrimSpace(f[gavelWorkers]))
	if err != nil || workers < 1 || workers > workload.MaxThreads {
		return fmt.Errorf("%q is not a number of workers", f[gavelWorkers])
	}
	weight, err := strconv.ParseFloat(strings.TrimSpace(f[gavelWeight]), 64)
	if err != nil || !(weight > 0) || math.IsInf(weight, 1) {
		return fmt.Errorf("%q is not a weight above 0", f[gavelWeight])
	}
	arrival, err := textfile.ParseTime(strings.TrimSpace(f[gavelArrival]), time.Second)
	if err != nil {
		return fmt.Errorf("arrival %w", err)
	}
	slo, err := strconv.ParseFloat(strings.TrimSpace(f[gavelSLO]), 64)
	if err != nil || math.IsNaN(slo) {
		return fmt.Errorf("%q is not an SLO in seconds", f[gavelSLO])
	}
	deadline := scheduler.Never
	if slo > 0 && slo < 1e9 {
		deadline = arrival + time.Duration(slo*float64(time.Second))
	}
	return b.Add(line, scheduler.Job{
		Name: fmt.Sprintf("job-%d", len(b.Jobs)), Class: b.Share(f[gavelType]), Arrival: max(arrival, 0),
		Threads: workers, GPUs: workers, Deadline: deadline, Priority: -1,
		Special: &scheduler.Special{Units: steps, Weight: weight, BatchRule: rule},
	}, -1)
}
