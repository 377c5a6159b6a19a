package recompute

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// events has the events of two jobs on one core, and rows has the expected results.
const (
	events = `{"t_s":0,"event":"arrive","job":"a"}
{"t_s":0,"event":"start","job":"a","cores":"0"}
{"t_s":1,"event":"arrive","job":"b"}
{"t_s":4,"event":"finish","job":"a"}
{"t_s":4,"event":"start","job":"b","cores":"0"}
{"t_s":6.5,"event":"finish","job":"b"}
`
	rows = `job,state,arrival_s,first_start_s,finish_s,first_run_delay_s,waiting_s,service_s,jct_s,preemptions,resizes,restarts,threads_requested,threads_mean
a,finished,0,0,4,0,0,4,4,0,0,0,1,1
b,finished,1,4,6.5,3,3,2.5,5.5,0,0,0,1,1
`
	instants = "t_s,cores_held,running,queued,paused\n0,1,1,0,0\n1,1,1,1,0\n4,1,1,0,0\n6.5,0,0,0,0\n"
)

// folderOfTwoJobs writes a folder with one cell, in which nothing differs.
func folderOfTwoJobs(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plan.json": `{"cells":[{"cell":"c","workload":"w","hardware":"h","policy":"p","replicate":1,"cores":1}]}`,
		"run.json":  `{"state":"finished","reported":true}`,
		"cells/c/cell.json": `{"cell":"c","workload":"w","hardware":"h","policy":"p","replicate":1,"cores":1,` +
			`"state":"finished","metrics":{"jobs":2,"makespan_s":6.5,"mean_jct_s":4.75,"utilization":1},"load":{"queued_at_last_arrival":1},` +
			fmt.Sprintf(`"files":[{"name":"events.jsonl","bytes":%d}]}`, len(events)),
		"cells/c/events.jsonl": events, "cells/c/jobs.csv": rows, "cells/c/occupancy.csv": instants,
		"metrics.csv": "cell,workload,hardware,policy,replicate,state,queued_at_last_arrival,mean_jct_s\nc,w,h,p,1,finished,1,4.75\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRecomputed(t *testing.T) {
	dir := folderOfTwoJobs(t)
	if r := Folder(dir); r.Count > 0 || r.Cells != 1 || r.Values < 40 {
		t.Fatal(r)
	}
	for _, c := range []struct{ file, old, text, want string }{
		{"cells/c/events.jsonl", `4,"event":"start"`, `3,"event":"start"`, "earlier than the line before"},
		{"cells/c/events.jsonl", `"finish","job":"a"`, `"finisx","job":"a"`, "core 0 is held by 2 jobs"},
		{"cells/c/jobs.csv", "3,3,2.5", "3,2,2.5", "job b, waiting_s: 2, should be 3"},
		{"cells/c/occupancy.csv", "1,1,1,1", "1,1,1,0", "line 3, queued: 0, should be 1"},
		{"cells/c/cell.json", "4.75", "4.74", "metrics, mean_jct_s: 4.74, should be 4.75"},
		{"metrics.csv", "4.75", "4.74", "line 2 (c), mean_jct_s: 4.74, should be 4.75"},
	} {
		path := filepath.Join(dir, c.file)
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(was), c.old, c.text, 1)
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		if found := fmt.Sprint(Folder(dir).Differences); !strings.Contains(found, c.want) || changed == string(was) {
			t.Errorf("%s in place of %s in %s: %s", c.text, c.old, c.file, found)
		}
		if err := os.WriteFile(path, was, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A job counts as waiting at the last arrival if it still waits after all events of that instant. A run that fails
// before the last arrival has no such jobs.
func TestFailedBeforeLastArrival(t *testing.T) {
	lines := strings.SplitAfter(`{"t_s":0,"event":"arrive","job":"a"}
{"t_s":0,"event":"start","job":"a","cores":"0"}
{"t_s":1,"event":"arrive","job":"b"}
{"t_s":4,"event":"finish","job":"a"}
{"t_s":4,"event":"start","job":"b","cores":"0"}
{"t_s":5,"event":"arrive","job":"c"}
{"t_s":6.5,"event":"finish","job":"b"}
`, "\n")
	for n := range lines {
		dir := folderOfTwoJobs(t)
		for name, text := range map[string]string{
			"cell.json":    `{"state":"failed","load":{"queued_at_last_arrival":0}}`,
			"events.jsonl": strings.Join(lines[:n], ""),
			"jobs.csv":     "job,arrival_s\na,0\nb,1\nc,5\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, "cells/c", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		found := fmt.Sprint(Folder(dir).Differences)
		if differs := strings.Contains(found, "load, queued_at_last_arrival: 0, should be 1"); differs != (n == 7) {
			t.Errorf("%d events: %s", n, found)
		}
	}
}

// A file that is empty or incomplete after a power cut, or whose last line has no end, gives one difference, which
// names the file.
func TestTornFiles(t *testing.T) {
	for _, file := range []string{"metrics.csv", "cells/c/jobs.csv", "cells/c/occupancy.csv", "cells/c/events.jsonl",
		"cells/c/cell.json"} {
		for name, damage := range map[string]func(path string) error{
			"empty": func(path string) error { return os.Truncate(path, 0) },
			"torn": func(path string) error {
				raw, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				return os.Truncate(path, int64(len(raw)-7))
			},
			"a quote": func(path string) error { return os.WriteFile(path, []byte("job,state\na,\"b"), 0o644) },
			"sparse":  func(path string) error { return os.Truncate(path, 600<<20) },
		} {
			dir := folderOfTwoJobs(t)
			if err := damage(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := Folder(dir)
			runtime.ReadMemStats(&after)
			text := fmt.Sprint(r.Differences)
			if r.Count == 0 || r.Differences[0].File != file || len(text) > 4000 {
				t.Errorf("%s, %s: %d differences, %.300s", file, name, r.Count, text)
			}
			if grown := int64(after.TotalAlloc-before.TotalAlloc) >> 20; grown > 100 {
				t.Errorf("%s, %s: %d MiB were allocated", file, name, grown)
			}
		}
	}
}

// If the list of sums is cut off between two lines, the files without a sum are named. A repeated line counts once.
func TestFilesWithoutSums(t *testing.T) {
	dir := folderOfTwoJobs(t)
	sum, err := record.SumOf(dir, "metrics.csv")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat(sum+"  metrics.csv\n", 1000)
	if err := os.WriteFile(filepath.Join(dir, record.SumsFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r := Folder(dir)
	if said := fmt.Sprint(r.Unchecked); r.Count > 0 || r.Files != 1 || !strings.Contains(said, "that SHA256SUMS does not list, such as cells/c/") {
		t.Errorf("%d differences, %d files, %s", r.Count, r.Files, said)
	}
}
