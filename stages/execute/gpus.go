package execute

import (
	"errors"
	"fmt"
	"github.com/tfexp/tfexp/stages"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// gpuWatch records what the GPUs of a cell do, from its start to its end.
type gpuWatch struct {
	table  *record.GPUWriter // nil when nothing is recorded
	source gpu.Source
	own    bool // the source is to be closed
	doubts []record.Warning
	cell   string
	done   chan struct{}
	over   sync.WaitGroup
	err    error // read when over
}

// BusyGPU is the code of the warning that a GPU was in use before the cell.
const BusyGPU = "busy_gpu"

// watchGPUs begins to record the GPUs of a cell whose jobs use some. GPUs that
// cannot be read are a warning: the jobs can run all the same.
func watchGPUs(task stages.Task, source gpu.Source, zero time.Time) (*gpuWatch, error) {
	w := &gpuWatch{done: make(chan struct{}), cell: task.Setup.Cell.Cell}
	if !slices.ContainsFunc(task.Setup.Jobs, func(j scheduler.Job) bool { return j.GPUs > 0 }) {
		return w, nil
	}
	if w.source = source; w.source == nil {
		w.source, w.own = gpu.Open(), true
	}
	devices, err := w.source.Devices() // a library reads those that it has listed
	if err == nil && source == nil {
		devices, err = hardware.GPUs()
	}
	if err != nil {
		w.doubt("gpus", "GPUs were not watched: %v", err)
		return w, nil
	}
	devices = devices[:min(task.Setup.Cell.GPUs, len(devices))]
	before, err := w.source.Read(devices)
	if err != nil {
		w.doubt("gpus", "GPUs were not watched: %v", err)
		return w, nil
	}
	for k, b := range before {
		if b.Utilization > hardware.BusyGPU || b.MemoryBytes > hardware.BusyGPUMemory {
			w.doubt(BusyGPU, "GPU %d was in use by other programs before the cell began: busy for %.0f%% of the time, "+
				"%.1f GiB in use",
				devices[k].Index, max(b.Utilization, 0), float64(max(b.MemoryBytes, 0))/(1<<30))
		}
	}
	if w.table, err = record.NewGPUWriter(task.Dir); err != nil {
		return nil, err
	}
	if err := w.write(devices, before, 0); err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.over.Go(func() { w.watch(devices, zero) })
	return w, nil
}

// watch reads the GPUs again and again, and a last time when the cell is over.
func (w *gpuWatch) watch(devices []gpu.Device, zero time.Time) {
	tick := time.NewTicker(w.source.Period())
	defer tick.Stop()
	for last := false; !last && w.err == nil; {
		select {
		case <-tick.C:
		case <-w.done:
			last = true
		}
		var readings []gpu.Reading
		if readings, w.err = w.source.Read(devices); w.err == nil {
			w.err = w.write(devices, readings, time.Since(zero))
		}
	}
}

func (w *gpuWatch) write(devices []gpu.Device, readings []gpu.Reading, at time.Duration) error {
	for i, r := range readings {
		err := w.table.Write(record.GPURow{
			At: at.Seconds(), GPU: i, Device: devices[i].ID,
			Utilization: r.Utilization, Memory: r.MemoryBytes, Power: r.Watts,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish ends the recording, and adds its file and warnings to the cell.
func (w *gpuWatch) finish(out *record.Cell) {
	if w.table != nil {
		close(w.done)
		w.over.Wait()
		file, err := w.table.Finish()
		if err == nil {
			out.Files = append(out.Files, file)
		}
		if err = errors.Join(w.err, err); err != nil {
			w.doubt("gpus", "GPUs were not watched to the end: %v", err)
		}
		w.table = nil
	}
	out.Warnings = append(out.Warnings, w.doubts...)
}

func (w *gpuWatch) doubt(code, format string, args ...any) {
	w.doubts = append(w.doubts, record.Warning{Code: code, Cell: w.cell, Text: fmt.Sprintf(format, args...)})
}

// abort ends a recording that finish has not.
func (w *gpuWatch) abort() {
	if w.table != nil {
		close(w.done)
		w.over.Wait()
	}
	_ = w.close() // nothing of it is kept
}

func (w *gpuWatch) close() error {
	if w.table != nil {
		w.table.Abort()
		w.table = nil
	}
	if w.own {
		w.own = false
		return w.source.Close()
	}
	return nil
}
