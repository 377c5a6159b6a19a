package pipeline

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/record"
)

// An engine that lacks something is in the way of cells that run on it, and of no others.
func TestReady(t *testing.T) {
	missing := fmt.Errorf("find images: %w", &engine.Unavailable{Engine: "docker", Err: errors.New("no daemon")})
	of := func(engine string, reuse bool) *Plan {
		p := &Plan{unavailable: missing}
		for _, e := range []string{"simulated", engine} {
			p.Cells, p.Work = append(p.Cells, record.CellRef{Engine: e}), append(p.Work, CellWork{Reuse: reuse})
		}
		return p
	}
	for _, c := range []struct {
		engine string
		reuse  bool
		stops  bool
	}{{"docker", false, true}, {"docker", true, false}, {"process", false, false}} {
		var stop *engine.Unavailable
		if err := of(c.engine, c.reuse).ready(); errors.As(err, &stop) != c.stops || !c.stops && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	p := of("docker", false)
	p.unavailable = nil
	if err := p.ready(); err != nil {
		t.Error(err)
	}
}

// What real cells are predicted to take is known once it is known of each that runs.
func TestLeft(t *testing.T) {
	const s = time.Second
	real, simulated := record.CellRef{Engine: "process"}, record.CellRef{Engine: "simulated", Simulated: true}
	for _, c := range []struct {
		cells []record.CellRef
		work  []CellWork
		want  time.Duration
	}{
		{[]record.CellRef{real, real}, []CellWork{{Predicted: 2 * s}, {Predicted: 3 * s}}, 5 * s},
		{[]record.CellRef{real, real}, []CellWork{{Predicted: 2 * s}, {Predicted: 3 * s, Reuse: true}}, 2 * s},
		{[]record.CellRef{real, real}, []CellWork{{Predicted: 2 * s}, {}}, 0},
		{[]record.CellRef{real, real}, []CellWork{{Predicted: 2 * s}, {Reuse: true}}, 2 * s},
		{[]record.CellRef{real, simulated}, []CellWork{{Predicted: 2 * s}, {}}, 2 * s},
		{[]record.CellRef{real, simulated}, []CellWork{{Predicted: 2 * s}, {Predicted: 7 * s}}, 2 * s},
	} {
		p := &Plan{Work: c.work}
		p.Cells = c.cells
		if got := p.left(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.work, got, c.want)
		}
	}
}
