package recompute

import (
	"os"
	"path/filepath"
	"testing"
)

// For any content of a file of results, the check ends, lists a limited number of differences, and counts all.
func FuzzFolder(f *testing.F) {
	dir := folderOfTwoJobs(f)
	names := []string{"plan.json", "run.json", "cells/c/cell.json", "cells/c/events.jsonl", "cells/c/jobs.csv",
		"cells/c/occupancy.csv", "metrics.csv"}
	whole := map[string][]byte{}
	for i, name := range names {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		whole[name] = raw
		f.Add(byte(i), raw)
		f.Add(byte(i), raw[:len(raw)/2])
	}
	f.Add(byte(3), []byte(`{"t_s":9e18,"event":"start","job":"a","cores":"0-2147483646"}`+"\n"))
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		name := names[int(which)%len(names)]
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile(path, whole[name], 0o644)
		r := Folder(dir)
		if len(r.Differences) > Most || r.Count < len(r.Differences) {
			t.Errorf("%d differences listed of %d", len(r.Differences), r.Count)
		}
	})
}
