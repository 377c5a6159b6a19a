package clusterspeed

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/clusterspeed/law"
)

// TestWrite checks that measured clusters are predicted, that groups with larger clusters have a row in the section,
// and that no table remains if no cluster was measured.
func TestWrite(t *testing.T) {
	l := law.Law{Form: law.Queued, Rates: []law.Rate{{Device: "K80", StepsPerSecond: 5}, {Device: "V100",
		StepsPerSecond: 20}}, Limit: 45,
		Exponent: 0.8, Sharpness: 4}
	var all []MeasuredCluster
	for _, device := range []string{"K80", "V100"} {
		for workers := 1; workers <= 8; workers++ {
			if device == "K80" && workers > 4 {
				continue
			}
			all = append(all, MeasuredCluster{File: "speeds.csv", Device: device, Servers: 1, Workers: workers,
				Speed: l.Speed(law.Alike(device, workers), 1)})
		}
	}
	dir := t.TempDir()
	if err := write(dir, all); err != nil {
		t.Fatal(err)
	}
	e := &record.Experiment{Dir: dir}
	Asked.Set(&e.Plan, all)
	rows, err := ClusterSpeeds.Read(dir)
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
	s, err := part.Tell(e)
	if err != nil || len(s.Report) != 2 || len(s.Report[1].Table.Rows) != 2 || len(s.Report[0].Sentences) != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	said, cells := s.Report[0].Sentences, s.Report[1].Table.Rows
	if got := strings.Join(cells[0][:5], " "); got != "speeds.csv  V100 1 4" {
		t.Errorf("the first row is of %s", got)
	}
	if got := strings.Join(cells[1][:5], " "); got != "speeds.csv all   4" {
		t.Errorf("the last row is of %s", got)
	}
	for i, want := range []string{
		"fitted to all 12 clusters of speeds.csv misses their speed by 0.", "The model: c = 45",
		"Clusters of 5 workers or more, each group of them left out of the fit in turn, are predicted with a mean absolute error of " +
			cells[1][5] + "%; of " + cells[1][6] + "% where",
	} {
		if !strings.Contains(said[i], want) {
			t.Errorf("%q lacks %q", said[i], want)
		}
	}
	if text := said[1]; !strings.Contains(text, "; 5") || !strings.Contains(text, "on K80, 20") || strings.Contains(text, ";,") {
		t.Errorf("the rates are told as %q", text)
	}
	if err := write(dir, nil); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
	if s, err := part.Tell(e); err != nil || len(s.Report) > 0 {
		t.Errorf("told of nothing: %+v, %v", s, err)
	}
}

// Each table is evaluated separately. A table without larger clusters has a note and no rows.
func TestTables(t *testing.T) {
	l := law.Law{Form: law.Queued, Rates: []law.Rate{{Device: "K80", StepsPerSecond: 5}}, Limit: 45, Exponent: 0.8, Sharpness: 4}
	var all []MeasuredCluster
	for workers := 1; workers <= 5; workers++ {
		m := MeasuredCluster{File: "large.csv", Model: "resnet", Device: "K80", Servers: 1, Workers: workers,
			Speed: l.Speed(law.Alike("K80", workers), 1)}
		all = append(all, m)
		if m.File = "small.csv"; workers < 5 {
			all = append(all, m)
		}
	}
	dir := t.TempDir()
	if err := write(dir, all); err != nil {
		t.Fatal(err)
	}
	e := &record.Experiment{Dir: dir}
	Asked.Set(&e.Plan, all)
	told, err := part.Tell(e)
	if err != nil || len(told.Report) != 2 {
		t.Fatal(told, err)
	}
	s, rows := told.Report[0], told.Report[1].Table.Rows
	if len(rows) != 2 || rows[0][0] != "large.csv" || rows[0][1] != "resnet" || rows[1][1] != "all" {
		t.Errorf("the rows are %q", rows)
	}
	if last := s.Sentences[len(s.Sentences)-1]; last != "small.csv has no clusters of 5 workers or more, which could be predicted from smaller ones." {
		t.Errorf("the last sentence is %q", last)
	}
	if !strings.HasPrefix(s.Sentences[1], "resnet: c = ") {
		t.Errorf("the model is told as %q", s.Sentences[1])
	}
}

func TestMean(t *testing.T) {
	var m mean
	if m.add(math.NaN()); m.String() != "–" {
		t.Errorf("of nothing: %s", m)
	}
	m.add(0.125)
	m.add(math.NaN())
	if m.add(0.25); m.String() != "18.8" || m.n != 2 {
		t.Errorf("of 12.5%% and 25%%: %s", m)
	}
	var e errors
	for _, v := range []float64{11, 12} {
		e.add(law.Prediction{Sample: law.Sample{StepsPerSecond: 10}, Fitted: 2 * v, Queued: v, Apart: 8, Unlimited: math.NaN(), Linear: 10})
	}
	if got := strings.Join(e.row("a", "b"), " "); got != "a b 2 15.0 20.0 – 0.0" || e.fitted.String() != "130.0" {
		t.Errorf("the row is %s, the law is off by %s", got, e.fitted)
	}
}
