package scheduler_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	_ "github.com/tfexp/tfexp/scheduler/workload/formats/clusters"
)

// openData opens a file in the folder with real logs, which are not part of the repository.
func openData(t testing.TB, name string) io.Reader {
	t.Helper()
	dir := os.Getenv("TFEXP_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("the real log %s is not here; TFEXP_DATA names the folder that has it", name)
	}
	t.Cleanup(func() { f.Close() })
	if filepath.Ext(name) != ".gz" {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func fullRequests(tr workload.Trace) []simulated.Scaling {
	work := make([]simulated.Scaling, len(tr.Jobs))
	for i, j := range tr.Jobs {
		work[i] = simulated.FullRequest(tr.RunTimes[i], j.Threads)
	}
	return work
}

// runValidated runs a cell with the streaming validator as its recorder.
func runValidated(t testing.TB, r Run, work []simulated.Scaling, o simulated.Options) Outcome {
	t.Helper()
	engine, err := simulated.New(r.Jobs, work, o)
	if err != nil {
		t.Fatal(err)
	}
	v := validate.New(r.Cluster, r.Jobs, r.Resizes)
	r.Engine, r.Recorder, r.EventsOnly = engine, v, true
	out, err := r.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	v.Close(&out)
	for _, x := range v.Violations() {
		t.Error(x)
	}
	return out
}

func meanWait(o Outcome) float64 {
	sum := 0.0
	for _, r := range o.Jobs {
		sum += r.Waiting.Seconds()
	}
	return sum / float64(len(o.Jobs))
}

func makespan(jobs []Job, o Outcome) time.Duration {
	first, last := Never, time.Duration(0)
	for i, r := range o.Jobs {
		first, last = min(first, jobs[i].Arrival), max(last, r.Finish)
	}
	return last - first
}

// nasaHalf returns the NASA log with arrivals twice as fast, as used for the expected starts: submit = floor(submit/2),
// run times of at least 1 s, and exact estimates.
func nasaHalf(t testing.TB) workload.Trace {
	t.Helper()
	tr, err := formats.Find("swf").Read("nasa.swf", openData(t, "swf_nasa/NASA-iPSC-1993-3.1-cln.swf.gz"),
		formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Jobs) != 18239 || tr.Processors != 128 {
		t.Fatalf("%d jobs on %d processors", len(tr.Jobs), tr.Processors)
	}
	for i := range tr.Jobs {
		tr.Jobs[i].Arrival = (tr.Jobs[i].Arrival / 2).Truncate(time.Second)
		tr.RunTimes[i] = max(tr.RunTimes[i], time.Second)
		tr.Jobs[i].Predicted = tr.RunTimes[i]
	}
	return tr
}

func TestNASAStartsAreThoseOfTwoIndependentPrograms(t *testing.T) {
	tr := nasaHalf(t)
	rows, err := csv.NewReader(openData(t, "swf_nasa/expected_starts_half.csv.gz")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for column, c := range map[int]struct {
		order          Order
		wait, makespan float64
	}{4: {FCFS, 440292.457, 4650744}, 5: {SJF, 21946.661, 4622833}} {
		o := runValidated(t, Run{Policy: Policy{Order: c.order}, Cluster: one(128), Jobs: tr.Jobs}, fullRequests(tr),
			simulated.Options{})
		wrong := 0
		for i, row := range rows[1:] {
			want, err := strconv.Atoi(row[column])
			if err != nil || "job-"+row[0] != tr.Jobs[i].Name {
				t.Fatalf("row %d: %v", i, row)
			}
			if o.Jobs[i].FirstStart != time.Duration(want)*time.Second {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d of %d jobs start at another second", c.order, wrong, len(tr.Jobs))
		}
		if got := meanWait(o); math.Abs(got-c.wait) > 0.001 {
			t.Errorf("%s: mean wait %.3f s, want %.3f", c.order, got, c.wait)
		}
		if got := makespan(tr.Jobs, o).Seconds(); got != c.makespan {
			t.Errorf("%s: makespan %.0f s, want %.0f", c.order, got, c.makespan)
		}
	}
}

// The original log has 173 jobs with a run time of zero, and arrivals at times when everything fits. No job waits
// endlessly, and all jobs are accounted for.
func TestNASAWithRunTimesOfZero(t *testing.T) {
	tr, err := formats.Find("swf").Read("nasa.swf", openData(t, "swf_nasa/NASA-iPSC-1993-3.1-cln.swf.gz"),
		formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Policy{
		{Order: FCFS}, {Order: SJF}, {Order: FCFS, Backfill: EASY}, {Order: FCFS, Backfill: "conservative"},
		{Order: "srtf"}, {Order: "las", Settings: Settings{"quantum": time.Minute}},
		{Order: RoundRobin, Settings: Settings{"quantum": time.Minute}},
	} {
		o := runValidated(t, Run{Policy: p, Cluster: one(128), Jobs: tr.Jobs}, fullRequests(tr), simulated.Options{})
		zero := 0
		for i, r := range o.Jobs {
			if tr.RunTimes[i] == 0 && r.Finish == r.FirstStart {
				zero++
			}
		}
		if zero != 173 {
			t.Errorf("%s: %d jobs took no time, not 173", p, zero)
		}
	}
}

func oar(t *testing.T, seed int) workload.Trace {
	t.Helper()
	name := fmt.Sprintf("oar_real/example_workload_hpc_seed%d_jobs250.json", seed)
	tr, err := formats.Find("batsim").Read(name, openData(t, name), formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Jobs) != 250 || tr.Processors != 128 {
		t.Fatalf("%d jobs on %d processors", len(tr.Jobs), tr.Processors)
	}
	return tr
}

func TestOARWaitsAreThoseOfAReferenceEASY(t *testing.T) {
	real := map[int][2]float64{1: {11123, 11284}, 2: {10933, 10988}, 3: {12534, 12534}}
	for seed, want := range map[int]float64{1: 114.7, 2: 386.2, 3: 238.7} {
		tr := oar(t, seed)
		o := runValidated(t, Run{Policy: Policy{Backfill: EASY}, Cluster: one(128), Jobs: tr.Jobs}, fullRequests(tr),
			simulated.Options{})
		got := meanWait(o)
		t.Logf("seed %d: mean wait %.1f s (reference %.1f), makespan %.0f s", seed, got, want, o.End.Seconds())
		if math.Abs(got/want-1) > 0.1 {
			t.Errorf("seed %d: mean wait %.1f s, the reference has %.1f", seed, got, want)
		}
		m := makespan(tr.Jobs, o).Seconds()
		if m < real[seed][0]*0.98 || m > real[seed][1]*1.02 {
			t.Errorf("seed %d: makespan %.0f s, the real runs took %v", seed, m, real[seed])
		}
	}
	tr := oar(t, 1)
	o := runValidated(t, Run{Policy: Policy{}, Cluster: one(128), Jobs: tr.Jobs}, fullRequests(tr), simulated.Options{})
	if got := meanWait(o); math.Abs(got/514-1) > 0.1 {
		t.Errorf("FCFS, seed 1: mean wait %.1f s, the reference has 514", got)
	} else {
		t.Logf("FCFS, seed 1: mean wait %.1f s (reference 514)", got)
	}
}
