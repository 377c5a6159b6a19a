package clusterspeed

import (
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

var update = flag.Bool("update", false, "write the golden files of the pictures")

// drawn draws the picture of rows of cluster_speed.csv.
func drawn(t *testing.T, rows []ClusterSpeedRow) []plot.Picture {
	t.Helper()
	dir := t.TempDir()
	e := &record.Experiment{Dir: dir, Plan: record.Plan{Plots: []record.Plot{{Kind: ClusterSpeed}}}}
	if err := ClusterSpeeds.Replace(dir, rows); err != nil {
		t.Fatal(err)
	}
	pictures, err := plot.Draw(context.Background(), e, filepath.Join(dir, record.PlotsDir), plot.Options{Formats: []string{"svg"}})
	if err != nil {
		t.Fatal(err)
	}
	return pictures
}

// TestPicture draws measured clusters with the law and its predictions. If no cluster was measured, there is no
// picture.
func TestPicture(t *testing.T) {
	var rows []ClusterSpeedRow
	for workers := range 8 {
		speed := 4 * float64(workers+1)
		rows = append(rows, ClusterSpeedRow{
			MeasuredCluster: MeasuredCluster{File: "speeds.csv", Device: "K80", Servers: 1, Workers: workers + 1, Speed: speed},
			Fitted:          speed, LeftOut: workers > 3, Queued: math.NaN(),
		})
	}
	pictures := drawn(t, rows)
	plottest.Check(t, pictures)
	if got := plottest.Names(pictures); got != "cluster_speed" {
		t.Errorf("pictures: %s", got)
	}
	plottest.Golden(t, pictures, *update)
	if pictures := drawn(t, nil); len(pictures) != 0 {
		t.Errorf("without measured clusters: %+v", pictures)
	}
}

// TestCrowded draws clusters of two devices and several numbers of parameter servers that lie close together.
func TestCrowded(t *testing.T) {
	var rows []ClusterSpeedRow
	for i := range 12 {
		rows = append(rows, ClusterSpeedRow{
			MeasuredCluster: MeasuredCluster{File: "speeds.csv", Device: []string{"K80", "V100"}[i/6], Servers: 1 + i%3, Workers: 1 + (7*i)%6,
				Speed: 3 + float64((7*i)%6)},
			Fitted: 2.5 + float64((7*i)%6), LeftOut: i%4 == 3, Queued: 2 + float64(i%3),
		})
	}
	pictures := drawn(t, rows)
	plottest.Check(t, pictures)
	for _, p := range pictures {
		raw, err := os.ReadFile(p.SVG)
		if err != nil {
			t.Fatal(err)
		}
		plottest.Same(t, "crowded-"+p.Name+".svg", raw, *update)
	}
}
