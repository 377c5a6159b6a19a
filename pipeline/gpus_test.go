package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/execute"
)

// fakeGPUs are two GPUs. The second one cannot be read after some readings.
type fakeGPUs struct {
	readings int
	lost     int    // number of readings before GPU 1 fails; 0: it never fails
	twice    string // path of a file that is created at the second reading
}

func (*fakeGPUs) Devices() ([]gpu.Device, error) {
	return []gpu.Device{{ID: "GPU-a", Name: "fake"}, {ID: "GPU-b", Index: 1, Name: "fake"}}, nil
}

func (f *fakeGPUs) Read(devices []gpu.Device) ([]gpu.Reading, error) {
	f.readings++
	if f.readings == 2 {
		if err := os.WriteFile(f.twice, nil, 0o644); err != nil {
			return nil, err
		}
	}
	if f.readings == f.lost {
		return nil, errors.New("GPU 1 is lost")
	}
	all := []gpu.Reading{{Utilization: 1, MemoryBytes: 1 << 20, Watts: 60},
		{Utilization: 50, MemoryBytes: 2 << 30, Watts: -1}}
	return all[:len(devices)], nil
}

func (*fakeGPUs) Period() time.Duration { return 20 * time.Millisecond }
func (*fakeGPUs) Driver() string        { return "1.0" }
func (*fakeGPUs) Close() error          { return nil }

const gpuFile = `
experiment "gpus" { replicates = 1 }

job "one" {
  command = ["sh", "-c", "echo one has $CUDA_VISIBLE_DEVICES; [ $TFEXP_EPOCHS -lt 10 ] || until test -e TWICE; do sleep 0.01; done"]
  epochs  = 10
  gpus    = 1
  runtime { epoch = "50ms" }
}

workload "w" {
  submit {
    job   = job.one
    count = 2
  }
}

hardware "here" {
  engine  = "process"
  threads = 2
}

policy "fcfs" { order = "fcfs" }

plot "jct" {}
`

func runOnGPUs(t *testing.T, source *fakeGPUs) (*record.Experiment, record.Cell) {
	t.Helper()
	source.twice = filepath.Join(t.TempDir(), "twice")
	file := strings.Replace(gpuFile, "TWICE", source.twice, 1)
	spec, diags := decode.Source("gpus.hcl", []byte(file), decode.Options{
		Host: experiments.HostFacts{Threads: 2, Cores: 2, GPUs: 2, GPUType: "fake"},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := New(spec, Options{Out: t.TempDir(), GPUs: source})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Run(context.Background()); err != nil || out.Failed > 0 {
		t.Fatal(out, err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return e, e.Cells[0]
}

// Two jobs run side by side, each on a separate GPU; both GPUs are watched.
func TestGPUsOfACell(t *testing.T) {
	e, cell := runOnGPUs(t, &fakeGPUs{})
	var told []string
	for _, job := range []string{"one-1", "one-2"} {
		raw, err := os.ReadFile(filepath.Join(e.Dir, record.CellsDir, cell.Cell, record.LogsDir, job+".log"))
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, string(raw))
	}
	if want := []string{"one has GPU-a\n", "one has GPU-b\n"}; !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
	rows, err := record.GPUs.ReadLive(e.Dir, record.CellsDir, cell.Cell)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 4 || rows[0].At != 0 || rows[1] != (record.GPURow{GPU: 1, Device: "GPU-b", Utilization: 50,
		Memory: 2 << 30, Power: -1}) {
		t.Errorf("%+v", rows)
	}
	for i := 2; i < len(rows); i++ {
		if rows[i].GPU != i%2 || rows[i].At < rows[i-2].At {
			t.Errorf("row %d: %+v", i, rows[i])
		}
	}
	busy := slices.ContainsFunc(cell.Warnings, func(w record.Warning) bool {
		return w.Code == execute.BusyGPU && strings.Contains(w.Text, "GPU 1 was in use") && w.Cell == cell.Cell
	})
	if !busy || len(cell.Warnings) > 3 { // other warnings may occur: a busy machine, short jobs
		t.Errorf("%+v", cell.Warnings)
	}
	if !slices.ContainsFunc(cell.Files, func(f record.File) bool { return f.Name == record.GPUs.File }) ||
		measure.GPUUtilization.Of(&cell.Metrics) <= 0 {
		t.Errorf("%+v, GPU utilization %g", cell.Files, measure.GPUUtilization.Of(&cell.Metrics))
	}
}

// When a GPU can no longer be read, the cell gets a warning but does not fail.
func TestLostGPUIsADoubt(t *testing.T) {
	e, cell := runOnGPUs(t, &fakeGPUs{lost: 2})
	if rows, err := record.GPUs.ReadLive(e.Dir, record.CellsDir, cell.Cell); err != nil || len(rows) != 2 {
		t.Errorf("%+v %v", rows, err)
	}
	if !slices.ContainsFunc(cell.Warnings, func(w record.Warning) bool {
		return strings.Contains(w.Text,
			"GPU 1 is lost")
	}) {
		t.Errorf("%+v", cell.Warnings)
	}
}
