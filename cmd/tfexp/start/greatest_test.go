package start

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The log has 5,000 lines of sacct. Jobs that never started or still run are left out and counted. The cluster is as
// large as the largest use at one time, including jobs that still run.
func TestLogOfACluster(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("JobID|User|Submit|Start|End|TimelimitRaw|ReqCPUS|State\n")
	epoch := time.Date(2024, 3, 4, 0, 0, 0, 0, time.UTC)
	iso := func(s int) string { return epoch.Add(time.Duration(s) * time.Second).Format("2006-01-02T15:04:05") }
	held := map[int]int{} // changes of the cores in use, by second
	at, never, open := 0, 0, 0
	for i := range 5000 {
		at += r.IntN(300)
		start := at + r.IntN(1000)
		end, cores, state := iso(start+100+r.IntN(7000)), 1<<r.IntN(7), "COMPLETED"
		begin := iso(start)
		switch i % 50 {
		case 7:
			begin, state = "None", "CANCELLED by 1001"
			never++
		case 9:
			end, state = "Unknown", "RUNNING"
			held[start] += cores
			open++
		case 11:
			begin, end, state = "Unknown", "Unknown", "PENDING"
			never++
		default:
			over, _ := time.Parse("2006-01-02T15:04:05", end)
			held[start] += cores
			held[int(over.Sub(epoch).Seconds())] -= cores
		}
		fmt.Fprintf(&b, "%d|u%d|%s|%s|%s|200|%d|%s\n", i, r.IntN(9), iso(at), begin, end, cores, state)
	}
	l, err := inspect(t, "dump.txt", b.String())
	if err != nil {
		t.Fatal(err)
	}
	var times []int
	for at := range held {
		times = append(times, at)
	}
	slices.Sort(times)
	most, now := 0, 0
	for _, at := range times {
		now += held[at]
		most = max(most, now)
	}
	want := fmt.Sprintf("jobs that never started (%d) or have not ended (%d) are left out", never, open)
	if l.Cluster.Cores != most || l.Malformed != "" || l.Left != want || l.Jobs != 5000-never-open || !l.Requested {
		t.Errorf("%+v, want %d cores and %q", l, most, want)
	}
	source, err := l.Experiment("x")
	if err != nil || strings.Contains(string(source), "lenient") {
		t.Errorf("%s, %v", source, err)
	}
}

// If the number of nodes of a job with many GPUs is unknown, nodes have the usual number of GPUs.
func TestGPUsOfNodes(t *testing.T) {
	l, err := inspect(t, "gpus.csv", "submit_time,start_time,duration,gpu_num,cpus\n0,0,100,16,64\n10,20,50,2,8\n30,30,10,8,32\n")
	if err != nil {
		t.Fatal(err)
	}
	// 26 GPUs and 104 cores at once: four nodes of 8 GPUs.
	if l.Cluster != (Cluster{Nodes: 4, Threads: 32, GPUs: 8}) || l.Greatest != (Use{104, 26}) || l.PerNode != 8 {
		t.Errorf("%+v", l)
	}
}

// Larger cluster sizes are named with their increase, also for few nodes.
func TestSizes(t *testing.T) {
	for size, want := range map[int]string{4: "[4 5 6] [1 (25%) 2 (50%)]", 1: "[1 2] [1 (100%)]",
		100: "[100 110 120 150] [10 (10%) 20 (20%) 50 (50%)]", 26: "[26 29 31 39] [3 (12%) 5 (19%) 13 (50%)]"} {
		list, added := sizes(size)
		if got := fmt.Sprint(list, added); got != want {
			t.Errorf("%d: %s, want %s", size, got, want)
		}
	}
}
