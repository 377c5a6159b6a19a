package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/scheduler"
)

func TestCellFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cell")
	s, events := resultstest.TwoJobs()
	s.Cell.Axes = []record.Setting{{Name: "load", Value: "0,5"}}
	decisions := []scheduler.Decision{{
		At: 2 * time.Second, Kind: scheduler.Start, Job: 1, Cores: scheduler.CoreSet{{Lo: 0, Hi: 1}}, Reason: "its turn",
		Passed: []scheduler.Passed{{Job: 0, Reason: "wants 2 cores & 1 is free"}}, PassedMore: 3,
	}}
	cell, err := record.WriteCell(dir, s, record.AllRecords, events, decisions, record.Cell{Seconds: 5, Busy: -1})
	if err != nil {
		t.Fatal(err)
	}
	if cell.State != record.CellFinished || measure.Finished.Of(&cell.Metrics) != 2 || cell.Cell != "c" {
		t.Errorf("cell is %+v", cell)
	}
	want := map[string]string{
		record.Jobs.File: `cell,workload,hardware,policy,replicate,job,class,arrival_s,first_start_s,finish_s,first_run_delay_s,waiting_s,service_s,jct_s,slowdown,threads_requested,threads_mean,gpus,preemptions,resizes,state,predicted_s,prediction_error_pct,bounded_slowdown,restarts,resize_overhead_s,resource,final_accuracy,final_loss,cost_usd,revocations,lost_work_s,checkpoint_s,restore_s,lateness_s,budget_s,budget_used_s,scoring_s,user,finish_time_ratio,load
c,w,h,p,1,a-1,a,0.000000,0.000000,5.000000,0.000000,1.000000,4.000000,5.000000,1.250000,2,2.000000,0,1,0,finished,5.000000,25.000000,1.000000,0,,cpu,,,,,,,,,,,,,0.892857,"0,5"
c,w,h,p,1,b-1,b,1.000000,2.000000,3.000000,1.000000,1.000000,1.000000,2.000000,2.000000,1,1.000000,0,0,0,finished,0.500000,-50.000000,1.000000,0,,cpu,,,,,,,,,,,,,2.000000,"0,5"
`,
		record.EventsFile: `{"t_s":0,"event":"arrive","job":"a-1","cores":""}
{"t_s":0,"event":"start","job":"a-1","cores":"0-1"}
{"t_s":1,"event":"arrive","job":"b-1","cores":""}
{"t_s":2,"event":"pause","job":"a-1","cores":""}
{"t_s":2,"event":"start","job":"b-1","cores":"0"}
{"t_s":3,"event":"finish","job":"b-1","cores":""}
{"t_s":3,"event":"resume","job":"a-1","cores":"0-1","migrated":true}
{"t_s":5,"event":"finish","job":"a-1","cores":""}
`,
		record.DecisionsFile: `{"t_s":2,"decision":"start","job":"b-1","cores":"0","reason":"its turn","passed":[{"job":"a-1","reason":"wants 2 cores & 1 is free"}],"passed_more":3}
`,
		record.Occupancy.File: `t_s,cores_held,running,queued,paused
0.000000,2,1,0,0
1.000000,2,1,1,0
2.000000,1,1,0,1
3.000000,2,1,0,0
5.000000,0,0,0,0
`,
	}
	for _, name := range []string{record.Jobs.File, record.EventsFile, record.DecisionsFile, record.Occupancy.File} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want[name], string(raw)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	var back record.Cell
	raw, err := os.ReadFile(filepath.Join(dir, record.CellFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if back.Seconds != 5 || measure.MeanJCT.Of(&back.Metrics) != 3.5 || back.Policy != "p" {
		t.Errorf("cell.json came back as %+v", back)
	}
}

// TestHalfWritten: a folder has no cell.json until the cell is complete, even if it had one before. An aborted cell
// writes none.
func TestHalfWritten(t *testing.T) {
	dir := t.TempDir()
	s, events := resultstest.TwoJobs()
	if _, err := record.WriteCell(dir, s, record.AllRecords, events, nil, record.Cell{}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, record.EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.NewCellWriter(dir, s, record.AllRecords)
	if err != nil {
		t.Fatal(err)
	}
	w.Event(&events[0])
	if _, err := os.Stat(filepath.Join(dir, record.CellFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("cell.json while the cell is written: %v", err)
	}
	w.Abort()
	after, err := os.ReadFile(filepath.Join(dir, record.EventsFile))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("events.jsonl has changed: %s, %v", after, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestCannotWrite: if a table cannot get its final name, there is no cell.json.
func TestCannotWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, record.Jobs.File, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, events := resultstest.TwoJobs()
	_, err := record.WriteCell(dir, s, record.AllRecords, events, nil, record.Cell{})
	if err == nil || !strings.HasPrefix(err.Error(), "write cell c: ") {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, record.CellFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("cell.json of a broken cell: %v", err)
	}
}

func TestMetricsOnly(t *testing.T) {
	dir := t.TempDir()
	s, events := resultstest.TwoJobs()
	cell, err := record.WriteCell(dir, s, record.MetricsOnly, events, nil, record.Cell{Error: "a core was held twice"})
	if err != nil || cell.State != record.CellFailed {
		t.Errorf("state %s, %v", cell.State, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != record.CellFile {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}
