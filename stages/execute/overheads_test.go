package execute

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfexp/tfexp/stages"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// TestOverheads checks that reported costs of resizes are in jobs.csv, and that costs that were not reported are empty.
func TestOverheads(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"resized": `{"tfexp":{"resized":{"inter":1,"intra":1,"seconds":1.25}}}` + "\n" +
			`{"tfexp":{"resized":{"inter":1,"intra":2,"seconds":0.5}}}` + "\n",
		"silent": "some text\n",
		"never":  `{"tfexp":{"resized":{"inter":1,"intra":1,"seconds":9}}}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := stages.Task{Folders: stages.Folders{Dir: filepath.Join(dir, "cell")}, Logs: dir, Records: record.AllRecords}
	c.Setup.Cell = record.CellRef{Cell: "c", Engine: "process"}
	c.Setup.Cluster = scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 4}}}
	names := []string{"resized", "silent", "never", "lost"}
	for _, n := range names {
		c.Setup.Jobs = append(c.Setup.Jobs, scheduler.Job{Name: n, Threads: 1})
	}
	w, err := record.NewCellWriter(c.Dir, c.Setup, c.Records)
	if err != nil {
		t.Fatal(err)
	}
	core := func(n int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: n, Hi: n + 1}} }
	for i, name := range names {
		w.Event(&scheduler.Event{Kind: scheduler.Arrive, Job: i})
		w.Event(&scheduler.Event{Kind: scheduler.Start, Job: i, Cores: core(int32(i))})
		if name != "never" {
			w.Event(&scheduler.Event{At: time.Second, Kind: scheduler.ResizeJob, Job: i, Cores: core(int32(i))})
		}
	}
	if err := addOverheads(w, c); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1.75, -1, -1, -1} {
		if got := w.Row(i).ResizeOverhead; got != want {
			t.Errorf("%s: %g s, want %g", names[i], got, want)
		}
	}
	if _, err := w.Finish(record.Cell{Busy: -1}); err != nil {
		t.Fatal(err)
	}
}
