package watch

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics serves the state of the runs in Prometheus' text form. It covers the jobs of running cells only: a
// permanent series for each job of each cell would overload the collector.
func metrics(results *Folder, version string) http.Handler {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&collector{results: results, version: version})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

type collector struct {
	results *Folder
	version string
}

var (
	inExperiment = []string{"experiment"}
	inCell       = []string{"experiment", "cell"}
	ofJob        = []string{"experiment", "cell", "job"}

	build      = desc("build_info", "The version of tfexp; the value is 1.", "version")
	runs       = desc("run_active", "1 while a run works in the experiment's folder, else 0.", inExperiment...)
	cells      = desc("cells", "Cells of the experiment by state.", "experiment", "state")
	timeLeft   = desc("run_remaining_seconds", "How long the cells that are left are predicted to take.", inExperiment...)
	elapsed    = desc("run_elapsed_seconds", "How long the last run has taken so far.", inExperiment...)
	windowJobs = desc("jobs", "Jobs of a running cell by state.", "experiment", "cell", "state")
	capacity   = desc("capacity", "Cores and GPUs of a running cell.", "experiment", "cell", "resource")
	held       = desc("held", "Cores and GPUs that the jobs of a running cell hold.", "experiment", "cell", "resource")
	cellTime   = desc("cell_seconds", "Seconds since the start of a running cell.", inCell...)
	epoch      = desc("job_epoch", "Epochs that a running job has finished.", ofJob...)
	loss       = desc("job_loss", "Training loss that a running job reported last.", ofJob...)
	accuracy   = desc("job_accuracy", "Accuracy that a running job reported last.", ofJob...)
	gpuUsed    = desc("gpu_utilization_ratio", "Part of the time in which a GPU computed, from 0 to 1.", "experiment",
		"cell", "gpu")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("tfexp_"+name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{build, runs, cells, timeLeft, elapsed, windowJobs, capacity, held, cellTime, epoch,
		loss,
		accuracy, gpuUsed} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		m, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, v, labels...)
		if err != nil {
			m = prometheus.NewInvalidMetric(d, err)
		}
		to <- m
	}
	known := func(d *prometheus.Desc, v *float64, labels ...string) {
		if v != nil {
			gauge(d, *v, labels...)
		}
	}
	gauge(build, 1, c.version)
	all, err := c.results.Experiments()
	if err != nil {
		to <- prometheus.NewInvalidMetric(runs, err)
		return
	}
	for _, x := range all {
		active := 0.0
		if x.Holder != "" {
			active = 1
		}
		gauge(runs, active, x.Name)
		gauge(elapsed, x.Elapsed, x.Name)
		known(timeLeft, x.TimeLeft, x.Name)
		gauge(cells, float64(x.Finished), x.Name, "finished")
		gauge(cells, float64(x.Failed), x.Name, "failed")
		gauge(cells, float64(x.Left), x.Name, "left")
		for _, name := range x.Running {
			cell, err := c.results.Cell(x.Name, name)
			if err != nil {
				continue // it has just ended
			}
			gauge(cellTime, cell.At, x.Name, name)
			gauge(windowJobs, float64(cell.Done), x.Name, name, "finished")
			gauge(windowJobs, float64(cell.Running), x.Name, name, "running")
			gauge(windowJobs, float64(cell.Waiting), x.Name, name, "waiting")
			gauge(windowJobs, float64(cell.Failed), x.Name, name, "failed")
			gauge(capacity, float64(cell.Cores), x.Name, name, "cores")
			gauge(capacity, float64(cell.GPUs), x.Name, name, "gpus")
			gauge(held, float64(cell.HeldCores), x.Name, name, "cores")
			gauge(held, float64(cell.HeldGPUs), x.Name, name, "gpus")
			for _, j := range cell.Jobs {
				if j.State != "running" {
					continue
				}
				gauge(epoch, float64(j.Epoch), x.Name, name, j.Name)
				known(loss, j.Loss, x.Name, name, j.Name)
				known(accuracy, j.Accuracy, x.Name, name, j.Name)
			}
			for _, d := range cell.Devices {
				if d.Utilization != nil {
					gauge(gpuUsed, *d.Utilization/100, x.Name, name, strconv.Itoa(d.GPU))
				}
			}
		}
	}
}
