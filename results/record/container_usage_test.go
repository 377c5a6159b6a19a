package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
)

// occupancy.csv has the usage of containers between the changes of held resources. A container counts until its last
// sample is too old.
func TestOccupancyOfContainers(t *testing.T) {
	dir := t.TempDir()
	usage, err := Containers.Live(dir)
	if err != nil {
		t.Fatal(err)
	}
	const mib = 1 << 20
	for _, r := range []ContainerRow{
		{At: 1.2, Job: "a", CPU: 90, Memory: 100 * mib, MemoryPct: 50, Cores: 1},
		{At: 1.3, Job: "b", CPU: 40, Memory: 20 * mib, MemoryPct: 10, Cores: 1},
		{At: 2.2, Job: "a", CPU: 80, Memory: 120 * mib, MemoryPct: 60, Cores: 1},
		{At: 4.0, Job: "b", CPU: 10, Memory: 20 * mib, MemoryPct: 10},
	} {
		usage.Add(r)
	}
	file, err := usage.Close()
	if err != nil || file.Name != Containers.File {
		t.Fatal(file, err)
	}
	if info, err := os.Stat(filepath.Join(dir, Containers.File)); err != nil || info.Size() != file.Size {
		t.Errorf("%v, %v; the size is told as %d", info, err, file.Size)
	}
	usage.Add(ContainerRow{At: 5, Job: "late"}) // comes after the end, and is nothing
	jobs := []scheduler.Job{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}
	core := func(n int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: n, Hi: n + 1}} }
	cell, err := WriteCell(dir, Setup{Cell: CellRef{Cell: "c", Engine: "docker", Contained: true},
		Setup: measure.Setup{Jobs: jobs, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 2}}}}},
		AllRecords, []scheduler.Event{
			{At: 0, Kind: scheduler.Arrive, Job: 0}, {At: 0, Kind: scheduler.Arrive, Job: 1},
			{At: 0, Kind: scheduler.Start, Job: 0, Cores: core(0)},
			{At: time.Second, Kind: scheduler.Start, Job: 1, Cores: core(1)},
			{At: 3 * time.Second, Kind: scheduler.Finish, Job: 0}, {At: 5 * time.Second, Kind: scheduler.Finish, Job: 1},
		}, nil, Cell{Files: []File{file}})
	if err != nil || cell.State != CellFinished {
		t.Fatalf("%+v, %v", cell, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, Occupancy.File))
	if err != nil {
		t.Fatal(err)
	}
	const want = `t_s,cores_held,running,queued,paused,cpu_pct,memory_bytes,memory_pct
0.000000,1,1,1,0,,,
1.000000,2,2,0,0,,,
1.300000,2,2,0,0,130.000000,125829120.000000,30.000000
2.200000,2,2,0,0,120.000000,146800640.000000,35.000000
3.000000,1,1,0,0,,,
4.000000,1,1,0,0,10.000000,20971520.000000,10.000000
5.000000,0,0,0,0,,,
`
	if string(raw) != want {
		t.Errorf("occupancy.csv is\n%s", raw)
	}
}
