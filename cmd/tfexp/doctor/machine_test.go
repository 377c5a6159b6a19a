package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware"
)

func TestChecks(t *testing.T) {
	var names []string
	for _, c := range machineChecks(filepath.Join(t.TempDir(), "not", "yet")) {
		names = append(names, c.Name)
		if c.Text == "" || c.Status != hardware.OK && c.Status != hardware.Warn && c.Status != hardware.Fail {
			t.Errorf("%+v", c)
		}
		if c.Name == "disk" && c.Status == hardware.Warn && c.Hint == "" {
			t.Error("the disk of a folder that is not there yet:", c.Text)
		}
	}
	want := []string{"cores", "CPU frequency", "memory", "disk", "GPUs", "load"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestCheckFindings(t *testing.T) {
	all := hardware.Machine{OS: "linux", LogicalCPUs: 8, Threads: 8, Allowed: []int{0, 1, 2, 3, 4, 5, 6, 7}}
	limited, bound, single := all, all, all
	limited.Quota, limited.Threads = 2.5, 2
	bound.Allowed, bound.Threads = []int{0, 1, 4}, 3
	single.Allowed, single.Threads = []int{6}, 1
	for _, test := range []struct {
		got    hardware.Check
		status hardware.Status
		text   string
	}{
		{checkCores(all), hardware.OK, "8 logical CPUs"},
		{checkCores(limited), hardware.Warn, "8 logical CPUs; the container is limited to the CPU time of 2.5"},
		{checkCores(bound), hardware.OK, "8 logical CPUs; this process may use 3 (CPUs 0-1,4)"},
		{checkCores(single), hardware.Warn, "8 logical CPUs; this process may use 1 (CPUs 6)"},
		{checkLoad(0.01), hardware.OK, "other programs use 0.01 cores now"},
		{checkLoad(1.5), hardware.Warn, "other programs use 1.50 cores now"},
		{checkLoad(hardware.UnknownLoad), hardware.Warn, "CPU load of other programs: unknown"},
	} {
		if test.got.Status != test.status || test.got.Text != test.text {
			t.Errorf("%+v, want %s: %s", test.got, test.status, test.text)
		}
	}
}

func TestExisting(t *testing.T) {
	dir := t.TempDir()
	if got := existing(filepath.Join(dir, "a", "b")); got != dir {
		t.Errorf("existing: %s, want %s", got, dir)
	}
	if _, err := os.Stat(existing("results")); err != nil {
		t.Error(err)
	}
}
