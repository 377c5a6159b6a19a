package pipeline

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// containersFile simulates measured containers: identical jobs run side by side on a machine that has more slots than
// cores. Each has the run time of a container alone. The contention model is fitted to the same measurements.
const containersFile = `
experiment "containers" { replicates = 1 }

job "train" {
  command = ["train"]
  epochs  = 1
  threads = each.cores
  runtime {
    file           = "FILE"
    threads_column = "Cores_Per_C"
    time_column    = "Time"
    where          = { Containers = "1" }
  }
}

workload "together" {
  submit {
    job   = job.train
    count = each.containers
  }
}

hardware "machine" {
  engine  = "simulated"
  threads = 5120
  contention {
    file             = "FILE"
    measured_threads = 64
    cores_column     = "Cores_Per_C"
    jobs_column      = "Containers"
    time_column      = "Time"
    threads          = 64
  }
}

policy "fcfs" { order = "fcfs" }

matrix {
  cores      = [1, 2, 4, 8, 16, 32, 48, 64]
  containers = [1, 2, 4, 8, 16, 32, 48, 64, 80]
}

plot "cores" {}
`

// The mean run time of simulated containers is within 6% of the measured mean. The slowest container took 15 times as
// long as one alone.
func TestContentionOfMeasuredContainers(t *testing.T) {
	dir := os.Getenv("TFEXP_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	for _, name := range []string{"Scripts_times_contention.csv", "Scripts_times_contention-v4.csv"} {
		path, err := filepath.Abs(filepath.Join(dir, "tf_containers", name))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Skipf("the measurements %s are not here; TFEXP_DATA names the folder that has them", name)
		}
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		measured := map[string]float64{}
		for _, r := range rows[1:] {
			if measured[r[0]+" "+r[1]], err = strconv.ParseFloat(r[2], 64); err != nil {
				t.Fatal(err)
			}
		}
		p := plan(t, strings.ReplaceAll(containersFile, "FILE", path), t.TempDir())
		if _, err := p.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		e, err := record.Open(p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		sum, worst, most := 0.0, "", 0.0
		for _, c := range e.Cells {
			axes := map[string]string{}
			for _, a := range c.Axes {
				axes[a.Name] = a.Value
			}
			want := measured[axes["cores"]+" "+axes["containers"]]
			err := math.Abs(measure.Makespan.Of(&c.Metrics)/want - 1)
			sum += err
			if err > most {
				most, worst = err, fmt.Sprintf("%s cores, %s containers: %.0f s for %.0f s", axes["cores"], axes["containers"],
					measure.Makespan.Of(&c.Metrics), want)
			}
		}
		mean := sum / float64(len(e.Cells))
		t.Logf("%s: mean absolute error %.1f%% over %d cells; the worst is %.1f%%: %s", name, 100*mean, len(e.Cells),
			100*most, worst)
		if len(e.Cells) != len(measured) || mean > 0.06 {
			t.Errorf("%s: mean absolute error %.1f%% over %d of %d measurements", name, 100*mean, len(e.Cells), len(measured))
		}
	}
}
