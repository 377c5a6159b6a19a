package clusterspeed

import (
	"bytes"
	"encoding/gob"
	"math"
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/clusterspeed/law"
)

// crew returns two different workers in two regions and a parameter server without a limit.
func crew() (*Crew, []scheduler.Part) {
	c := &Crew{
		Law: law.Law{Form: law.Apart, Rates: []law.Rate{{Device: "K80",
			StepsPerSecond: 4}, {Device: "V100", StepsPerSecond: 12}}, Sharpness: 4},
		Devices: []string{"K80", "V100"}, Regions: []string{"east", "west"},
		Factors: map[string]map[string]float64{"west": {"east": 0.5}}, Full: 10,
	}
	return c, []scheduler.Part{{Role: contract.RoleServer, Node: 0}, {Role: contract.RoleChief, Node: 0}, {Role: contract.RoleWorker, Node: 1},
		{Role: "evaluator", Node: 1}}
}

// TestCrewSpeed checks that speeds of different workers add up, that a worker in another region counts half, and that a
// lost worker counts zero.
func TestCrewSpeed(t *testing.T) {
	c, parts := crew()
	for n, want := range map[int]float64{4: 1, 3: 1, 2: 0.4} {
		if got := c.Speed(parts[:n]); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d parts: %g, want %g", n, got, want)
		}
	}
	c.Factors = nil
	if got := c.StepsPerSecond(parts); got != 16 {
		t.Errorf("within a region: %g steps/s", got)
	}
	if got := c.Speed(parts[:1]); !(got > 0) {
		t.Errorf("without workers: %g", got)
	}
}

// TestCrewIsWrittenDown checks that a cell run by another process has the same speeds.
func TestCrewIsWrittenDown(t *testing.T) {
	c, parts := crew()
	task := stages.Task{Simulation: &stages.Simulation{Work: []simulated.Scaling{{Special: &simulated.Special{Crew: c}}}}}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(task); err != nil {
		t.Fatal(err)
	}
	var read stages.Task
	if err := gob.NewDecoder(&b).Decode(&read); err != nil {
		t.Fatal(err)
	}
	if got, want := read.Simulation.Work[0].Special.Crew.Speed(parts), c.Speed(parts); got != want {
		t.Errorf("read back: %g, want %g", got, want)
	}
}
