package watch

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// metricFamily is a Prometheus metric with the names of its labels, in order.
type metricFamily struct {
	name, help string
	labels     []string
}

var (
	inExperiment = []string{"experiment"}
	inCell       = []string{"cell", "experiment"}
	ofJob        = []string{"cell", "experiment", "job"}
	byState      = []string{"cell", "experiment", "state"}
	byResource   = []string{"cell", "experiment", "resource"}

	build    = &metricFamily{"build_info", "The version of tfexp; the value is 1.", []string{"version"}}
	runs     = &metricFamily{"run_active", "1 while a run works in the experiment's folder, else 0.", inExperiment}
	cells    = &metricFamily{"cells", "Cells of the experiment by state.", []string{"experiment", "state"}}
	timeLeft = &metricFamily{"run_remaining_seconds", "How long the cells that are left are predicted to take.",
		inExperiment}
	elapsed  = &metricFamily{"run_elapsed_seconds", "How long the last run has taken so far.", inExperiment}
	jobs     = &metricFamily{"jobs", "Jobs of a running cell by state.", byState}
	capacity = &metricFamily{"capacity", "Cores and GPUs of a running cell.", byResource}
	held     = &metricFamily{"held", "Cores and GPUs that the jobs of a running cell hold.", byResource}
	cellTime = &metricFamily{"cell_seconds", "Seconds since the start of a running cell.", inCell}
	epoch    = &metricFamily{"job_epoch", "Epochs that a running job has finished.", ofJob}
	loss     = &metricFamily{"job_loss", "Training loss that a running job reported last.", ofJob}
	accuracy = &metricFamily{"job_accuracy", "Accuracy that a running job reported last.", ofJob}
	gpuUsed  = &metricFamily{"gpu_utilization_ratio", "Part of the time in which a GPU computed, from 0 to 1.",
		[]string{"cell", "experiment", "gpu"}}
)

// metrics serves the state of runs in Prometheus' text exposition format, version 0.0.4. Only jobs of running cells are
// included, because permanent series for all jobs would overload a Prometheus server.
func metrics(results *Folder, version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e := exposition{}
		e.collect(results, version)
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		for _, f := range slices.SortedFunc(maps.Keys(e), func(a, b *metricFamily) int {
			return strings.Compare(a.name,
				b.name)
		}) {
			fmt.Fprintf(w, "# HELP tfexp_%s %s\n# TYPE tfexp_%[1]s gauge\n", f.name, f.help)
			slices.Sort(e[f])
			for _, sample := range e[f] {
				fmt.Fprintf(w, "tfexp_%s%s\n", f.name, sample)
			}
		}
	})
}

// exposition has the samples of each metric as texts: labels and a value.
type exposition map[*metricFamily][]string

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func (e exposition) gauge(f *metricFamily, v float64, labels ...string) {
	texts := make([]string, len(labels))
	for i, value := range labels {
		texts[i] = fmt.Sprintf(`%s="%s"`, f.labels[i], labelEscapes.Replace(value))
	}
	e[f] = append(e[f], "{"+strings.Join(texts, ",")+"} "+strconv.FormatFloat(v, 'g', -1, 64))
}

func (e exposition) known(f *metricFamily, v *float64, labels ...string) {
	if v != nil {
		e.gauge(f, *v, labels...)
	}
}

// collect adds the state of the runs. It skips data that cannot be read.
func (e exposition) collect(results *Folder, version string) {
	e.gauge(build, 1, version)
	all, err := results.Experiments()
	if err != nil {
		return
	}
	for _, x := range all {
		if x.State == unreadable {
			continue
		}
		active := 0.0
		if x.Holder != "" {
			active = 1
		}
		e.gauge(runs, active, x.Name)
		e.gauge(elapsed, x.Elapsed, x.Name)
		e.known(timeLeft, x.TimeLeft, x.Name)
		e.gauge(cells, float64(x.Finished), x.Name, "finished")
		e.gauge(cells, float64(x.Failed), x.Name, "failed")
		e.gauge(cells, float64(x.Left), x.Name, "left")
		for _, name := range x.Running {
			cell, err := results.Cell(x.Name, name)
			if err != nil {
				continue // the cell has just ended
			}
			e.gauge(cellTime, cell.At, name, x.Name)
			e.gauge(jobs, float64(cell.Done), name, x.Name, "finished")
			e.gauge(jobs, float64(cell.Running), name, x.Name, "running")
			e.gauge(jobs, float64(cell.Waiting), name, x.Name, "waiting")
			e.gauge(jobs, float64(cell.Failed), name, x.Name, "failed")
			e.gauge(capacity, float64(cell.Cores), name, x.Name, "cores")
			e.gauge(capacity, float64(cell.GPUs), name, x.Name, "gpus")
			e.gauge(held, float64(cell.HeldCores), name, x.Name, "cores")
			e.gauge(held, float64(cell.HeldGPUs), name, x.Name, "gpus")
			for _, j := range cell.Jobs {
				if j.State != "running" {
					continue
				}
				e.gauge(epoch, float64(j.Epoch), name, x.Name, j.Name)
				e.known(loss, j.Loss, name, x.Name, j.Name)
				e.known(accuracy, j.Accuracy, name, x.Name, j.Name)
			}
			for _, d := range cell.Devices {
				if d.Utilization != nil {
					e.gauge(gpuUsed, *d.Utilization/100, name, x.Name, strconv.Itoa(d.GPU))
				}
			}
		}
	}
}
