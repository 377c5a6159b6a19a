package clusterspeed

import (
	"os"
	"path/filepath"
	"testing"

	law "github.com/tfexp/tfexp/estimator/clusterspeed"
	"github.com/tfexp/tfexp/results/outside"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/sections"
)

// TestWrite: measured clusters of a law are predicted, groups that have larger clusters have a row of the section, and
// nothing is left where no cluster was measured.
func TestWrite(t *testing.T) {
	l := law.Law{Form: law.Queued, Rates: []law.Rate{{Device: "K80", StepsPerSecond: 5}, {Device: "V100",
		StepsPerSecond: 20}}, Limit: 45,
		Exponent: 0.8, Sharpness: 4}
	var all []record.MeasuredCluster
	for _, device := range []string{"K80", "V100"} {
		for workers := 1; workers <= 8; workers++ {
			if device == "K80" && workers > 4 {
				continue
			}
			all = append(all, record.MeasuredCluster{File: "speeds.csv", Device: device, Servers: 1, Workers: workers,
				Speed: l.Speed(law.Alike(device, workers), 1)})
		}
	}
	dir := t.TempDir()
	if err := write(dir, all); err != nil {
		t.Fatal(err)
	}
	e := &record.Experiment{Dir: dir}
	rows, err := outside.ClusterSpeeds(dir)
	if err != nil || len(rows) != len(all) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.ErrorPct > 2 || r.ErrorPct < -2 || r.LeftOut != (r.Workers >= 5) {
			t.Errorf("%+v", r)
		}
		if r.LeftOut && (r.Queued < 0.85*r.Speed || r.Queued > 1.15*r.Speed || r.Unlimited < r.Queued) {
			t.Errorf("left out: %+v", r)
		}
	}
	added, err := sections.All(e.Dir)
	if err != nil || len(added) != 1 || len(added[0].Rows) != 2 || len(added[0].Sentences) != 3 {
		t.Fatalf("%+v, %v", added, err)
	}
	if err := write(dir, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside.ClusterSpeedFile, sections.File(section)} {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}
