package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
)

// Data at the limit are shown, and data above it are not.
func TestCrowdedAtItsBounds(t *testing.T) {
	for _, c := range []struct {
		jobs, preemptions, resizes float64
		want                       string
	}{
		{mostJobs, 0, 0, ""}, {mostJobs + 1, 0, 0, "5001 jobs"},
		{100, mostSpans - 200, 100, ""}, {100, mostSpans - 200, 101, "200001 stretches"}, {100, mostSpans - 50, 0, "200050 stretches"},
		{math.NaN(), 0, 0, ""},
	} {
		cell := record.Cell{Metrics: MetricsOf(map[string]float64{"jobs": c.jobs, "preemptions": c.preemptions, "resizes": c.resizes})}
		if got := Crowded(cell); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A cell has its own servers only. All cores of these servers count, used or not.
func TestServersOfACell(t *testing.T) {
	r := scheduleReader{Schedule: &Schedule{Cores: 2}}
	r.servers(record.Cell{CellRef: record.CellRef{Cell: "c"}}, []record.ServerRow{
		{Cell: "c", Cores: "0-3", Created: 1, Up: 2, Down: 9, Revoked: 1}, {Cell: "d", Cores: "0-90"},
		{Cell: "c", Cores: "4", Created: 3, Up: 4, Down: -1}, {Cell: "c", Cores: "x"},
	})
	if len(r.Servers) != 2 || !r.Servers[0].Revoked || r.Servers[1].Revoked || r.Schedule.Cores != 5 ||
		r.Servers[0].Cores.String() != "0-3" || r.Servers[0].Up != 2 || r.Servers[1].Down != -1 {
		t.Errorf("%+v of %d cores", r.Servers, r.Schedule.Cores)
	}
}

// A run that was a sample is marked. The later run of the whole job is not.
func TestSamplesAreMarked(t *testing.T) {
	r := scheduleReader{Schedule: &Schedule{Jobs: make([]ScheduledJob, 1)}, at: map[string]int{"a": 0}, replay: ledger.New(1)}
	cores := scheduler.CoreSet{{Lo: 0, Hi: 1}}
	for i, kind := range []scheduler.EventKind{scheduler.Arrive, scheduler.Start, scheduler.Profiled, scheduler.Start, scheduler.Finish} {
		e := record.EventRow{At: float64(i), Event: kind, Job: "a"}
		if kind == scheduler.Start {
			e.Cores = cores
		}
		r.event(e)
	}
	held := r.Jobs[0].Held
	if len(held) != 2 || !held[0].Sample || held[1].Sample || held[0].To != 2 || held[1].From != 3 {
		t.Errorf("%+v", held)
	}
}
