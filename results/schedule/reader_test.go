package schedule

import (
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// The most that is shown is shown, and what is more is not.
func TestCrowdedAtItsBounds(t *testing.T) {
	for _, c := range []struct {
		jobs, preemptions, resizes float64
		want                       string
	}{
		{mostJobs, 0, 0, ""}, {mostJobs + 1, 0, 0, "5001 jobs"},
		{100, mostSpans - 200, 100, ""}, {100, mostSpans - 200, 101, "200001 stretches"}, {100, mostSpans - 50, 0, "200050 stretches"},
		{math.NaN(), 0, 0, ""},
	} {
		cell := record.Cell{Metrics: measure.Of(map[string]float64{"jobs": c.jobs, "preemptions": c.preemptions, "resizes": c.resizes})}
		if got := Crowded(cell); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// The servers of a cell are its own, and their cores count, used or not.
func TestServersOfACell(t *testing.T) {
	r := reader{Schedule: &Schedule{Cores: 2}}
	r.servers(record.Cell{CellRef: record.CellRef{Cell: "c"}}, []record.ServerRow{
		{Cell: "c", Cores: "0-3", Created: 1, Up: 2, Down: 9, Revoked: 1}, {Cell: "d", Cores: "0-90"},
		{Cell: "c", Cores: "4", Created: 3, Up: 4, Down: -1}, {Cell: "c", Cores: "x"},
	})
	if len(r.Servers) != 2 || !r.Servers[0].Revoked || r.Servers[1].Revoked || r.Schedule.Cores != 5 ||
		r.Servers[0].Cores.String() != "0-3" || r.Servers[0].Up != 2 || r.Servers[1].Down != -1 {
		t.Errorf("%+v of %d cores", r.Servers, r.Schedule.Cores)
	}
}
