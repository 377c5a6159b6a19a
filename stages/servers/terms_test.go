package servers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/servers"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// cloud is an experiment file with a block of rented nodes.
const cloud = `
experiment "e" {}
job "a" {
  command = ["x"]
  epochs  = 4
  runtime { epoch = "1m" }
  checkpoint { every = "1m" }
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine = "simulated"
  node "small" {
    threads = 4
    NODE
  }
}
policy "p" { order = "fcfs" }
`

// terms loads hardware whose nodes have some arguments, with a table t.csv. It returns nil where that is an error.
func terms(t *testing.T, args, table string) (*market.Terms, string) {
	t.Helper()
	spec, text := decodetest.Beside(t, strings.Replace(cloud, "NODE", args, 1), map[string]string{"t.csv": table})
	if spec == nil {
		return nil, text
	}
	return termsOf(spec.Cells[0].Hardware)[0], text
}

// termsOf are the terms of the servers of hardware.
func termsOf(h *experiment.Hardware) []*market.Terms {
	if rented, ok := experiment.PartOf[*servers.Rented](h.Parts); ok {
		return rented.Terms
	}
	return make([]*market.Terms, len(h.Cluster.Nodes))
}

// recordText writes a record of availability as "seconds:servers …".
func recordText(a *market.Availability) string {
	if a == nil {
		return ""
	}
	var all []string
	for i, at := range a.Times {
		all = append(all, fmt.Sprintf("%g:%d", at.Seconds(), a.Servers[i]))
	}
	return strings.Join(all, " ")
}

// Records of the number of servers, in the four forms that are read.
func TestAvailability(t *testing.T) {
	for _, c := range []struct{ what, args, table, want string }{
		{"instants", "", "time_s,servers\n0,2\n 7.5,0\n10,3\n", "0:2 7.5:0 10:3"},
		{"instants, as others call them", "", "available,time_s\n2,0\n0,60\n", "0:2 60:0"},
		{"columns of other names", `, {}, { time_s = "t", servers = "n" }`, "t,n\n0,1\n5,2\n", "0:1 5:2"},
		{"chosen rows", `, { zone = "1.0" }`, "zone,time_s,servers\n1,0,4\n2,1,9\n1,3,5\n", "0:4 3:5"},
		{"ticks", `, {}, { step = "10m" }`, "first_tick,ticks,available\n0,2,1\n2,1,3\n", "0:1 1200:3 1800:0"},
		{"ticks with gaps", `, {}, { step = "1s" }`, "first_tick,ticks,available\n2,1,1\n5,2,4\n", "0:0 2:1 3:0 5:4 7:0"},
		{"nodes that come and go", "", "0,add,a\n0,add,b\n500, remove,a\n2000,add,a\n2000,add,c\n", "0:2 0.5:1 2:3"},
	} {
		args := `lifetime = availability("t.csv"` + c.args + ")"
		got, text := terms(t, args, c.table)
		if got == nil {
			t.Errorf("%s: %s", c.what, text)
			continue
		}
		if r := recordText(got.Availability); r != c.want || got.Windows != nil {
			t.Errorf("%s: %s, want %s", c.what, r, c.want)
		}
	}
	windows, text := terms(t, `lifetime = availability("t.csv", {}, { window = "day" })`,
		"day,time_s,servers\nmo,0,1\ntu,0,2\nmo,5,3\n")
	if windows == nil || len(windows.Windows) != 2 || recordText(windows.Windows[0]) != "0:1 5:3" ||
		recordText(windows.Windows[1]) != "0:2" || windows.Availability != windows.Windows[0] {
		t.Errorf("windows: %+v %s", windows, text)
	}
}

// TestAvailabilityOfEach: a column's value may come from an axis.
func TestAvailabilityOfEach(t *testing.T) {
	source := strings.Replace(cloud, "NODE", `lifetime = availability("t.csv", { zone = each.zone })`, 1) + "matrix { zone = [\"a\", \"b\"] }\n"
	spec, text := decodetest.Beside(t, source, map[string]string{"t.csv": "zone,time_s,servers\na,0,4\nb,0,7\n"})
	if spec == nil {
		t.Fatal(text)
	}
	for i, want := range []string{"0:4", "0:7"} {
		if got := recordText(termsOf(spec.Cells[i].Hardware)[0].Availability); got != want {
			t.Errorf("cell %d: %s, want %s", i, got, want)
		}
	}
}

// Lives and prices from tables.
func TestTablesOfServers(t *testing.T) {
	curve := func(life market.Life) string {
		return fmt.Sprintf("%.3g %.3g %.3g", life.Survival(time.Second), life.Survival(2*time.Second), life.Survival(5*time.Second))
	}
	// Of four servers, one was revoked after 2 s and one returned after 4 s. One of the remaining two was revoked after
	// 5 s.
	const by = "3/4 of them outlive 2 s, and half of these 5 s"
	for _, table := range []string{
		"lifetime_s,revoked\n2,1\n4,0\n5,TRUE\n9,0\n", "lifetime_s,revoked\n2,true\n4,false\n5,1\n9,no\n",
		"lifetime_s,ended_by\n2,revoked\n4,user\n5,revoked\n9,user\n",
	} {
		if got, text := terms(t, `lifetime = survival("t.csv")`, table); got == nil {
			t.Errorf("%s: %s", table, text)
		} else if s := got.Life.Survival(5 * time.Second); s < 0.374 || s > 0.376 {
			t.Errorf("%s: %s; got %s", table, by, curve(got.Life))
		}
	}
	if got, text := terms(t, `lifetime = survival("t.csv")`, "time_s,survival\n0,1\n2,0.5\n10,0\n"); got == nil {
		t.Error(text)
	} else if s := got.Life.Survival(2 * time.Second); s != 0.5 {
		t.Errorf("a curve through 1/2 at 2 s: %s", curve(got.Life))
	}
	if got, text := terms(t, `price = prices("t.csv")`, "time_s,price\n0,1.5\n60,0.5\n"); got == nil {
		t.Error(text)
	} else if p := got.Price; !slices.Equal(p.Times, []time.Duration{0, time.Minute}) || !slices.Equal(p.PerHour, []float64{1.5, 0.5}) {
		t.Errorf("prices: %+v", p)
	}
	const catalogue = "type,region,market,price\nsmall,west,spot,1\nsmall,west,on_demand,3\nsmall,east,spot,2\nlarge,west,spot,8\n" +
		"v100,west,spot,9\n"
	for _, c := range []struct {
		args            string
		price, onDemand float64
	}{
		{`region = "west"` + "\n" + `market = "spot"` + "\n" + `price = catalogue("t.csv")`, 1, 1},
		{`region = "east"` + "\n" + `market = "spot"` + "\n" + `price = catalogue("t.csv")`, 2, 2},
		{`region = "west"` + "\n" + `lifetime = exponential("1h")` + "\n" + `price = catalogue("t.csv")` + "\n" +
			`on_demand_price = catalogue("t.csv")`, 1, 3},
		{`region = "west"` + "\n" + `price = catalogue("t.csv")`, 3, 3},
		{`region = "west"` + "\n" + `market = "spot"` + "\n" + `gpus = 1` + "\n" + `gpu = "v100"` + "\n" + `price = catalogue("t.csv")`, 9, 9},
	} {
		got, text := terms(t, c.args, catalogue)
		if got == nil {
			t.Errorf("%s: %s", c.args, text)
		} else if got.Price.PerHour[0] != c.price || got.OnDemand.PerHour[0] != c.onDemand {
			t.Errorf("%s: %v and %v on demand", c.args, got.Price, got.OnDemand)
		}
	}
}

// Mistakes in such tables are reported at their lines.
func TestTablesOfServersThatAreWrong(t *testing.T) {
	const ticks = `lifetime = availability("t.csv", {}, { step = "10m" })`
	const seconds = `lifetime = availability("t.csv")`
	for _, c := range []struct{ args, table, want string }{
		{seconds, "time_s,servers\n0,1\n5,2\n5,3\n", "t.csv line 4:\n  4 | 5,3"},
		{seconds, "time_s,servers\n0,1\n5,2.5\n", "servers is 2.5: it is a whole number"},
		{seconds, "time_s,servers\n0,one\n", `servers is "one": not a number from 0`},
		{seconds, "time_s,servers\n-1,1\n", `time_s is "-1": not a number from 0`},
		{seconds, "time_s,servers\n1e300,1\n", `time_s is "1e300": not a number from 0`},
		{seconds, "time_s,servers\nNaN,1\n", `time_s is "NaN": not a number from 0`},
		{seconds, "time_s,servers\n", "No row of t.csv is selected"},
		{seconds, "time_s,machines\n0,1\n", "t needs the columns time_s, servers, or time_s, available, or first_tick, ticks, available; there " +
			"are time_s, machines"},
		{`lifetime = availability("t.csv", { zone = "a" })`, "time_s,servers\n0,1\n", "t needs the columns time_s, servers, zone, or"},
		{`lifetime = availability("t.csv", { servers = "3" })`, "time_s,servers\n0,1\n", "No row of t.csv is selected"},
		{`lifetime = availability("t.csv", {}, { step = "10m" })`, "time_s,servers\n0,1\n", "step is for records in ticks"},
		{`lifetime = availability("t.csv", {}, { step = "0s" })`, "first_tick,ticks,available\n0,1,1\n", `step is "0s": it is a duration above 0s`},
		{seconds, "first_tick,ticks,available\n0,1,1\n", "t.csv is in ticks: give the length of a tick"},
		{ticks, "first_tick,ticks,available\n0.5,1,1\n", "first_tick is 0.5: it is a whole number"},
		{ticks, "first_tick,ticks,available\n0,1.5,1\n", "ticks is 1.5: it is a whole number"},
		{ticks, "first_tick,ticks,available\n0,1,0.5\n", "available is 0.5: it is a whole number"},
		{ticks, "first_tick,ticks,available\n0,1,x\n", `available is "x": not a number`},
		{ticks, "first_tick,ticks,available\n0,0,1\n", "ticks is 0: write how many ticks this line covers"},
		{ticks, "first_tick,ticks,available\n0,3,1\n2,1,1\n", "This line begins at tick 2, but the line before it covers the ticks before 3"},
		{ticks, "first_tick,ticks,available\n9000000,9000000,1\n", "The tick 1.8e+07 ends after more than"},
		{seconds, "0,add,a\n5,take,b\n", "t.csv line 2:\n  2 | 5,take,b"},
		{seconds, "0,add,a\n5,add\n", "The row has 2 fields instead of 3"},
		{seconds, "0,add,a\n5,\"add,b\n", "t.csv line 2:\n  2 | 5,\"add,b"},
		{seconds, "5,take,b\n0,add,a\n", "t needs the columns time_s, servers, or"},
		{seconds, "0,add,a\nx,add,b\n", `The time is "x": not a number of milliseconds`},
		{seconds, "0,add,a\n-5,add,b\n", `The time is "-5": not a number of milliseconds`},
		{seconds, "0,add,a\n1e300,add,b\n", `The time is "1e300": not a number of milliseconds`},
		{seconds, "7,add,a\n5,add,b\n", "The time 5 does not come after 7"},
		{seconds, "7,add,a\n8,add,a\n", `The node "a" cannot be added here`},
		{seconds, "7,remove,a\n", `The node "a" cannot be removed here`},
		{`lifetime = availability("t.csv", { zone = "a" })`, "0,add,a\n", "t.csv has no columns to choose by or to name"},
		{`lifetime = availability("t.csv", {}, { servers = "n" })`, "0,add,a\n", "t.csv has no columns to choose by or to name"},
		{`lifetime = survival("t.csv")`, "time_s,survival\n0,1\n1,2\n", "t.csv line 3:"},
		{`lifetime = survival("t.csv")`, "time_s,survival\n0,x\n", `survival is "x": not a number`},
		{`lifetime = survival("t.csv")`, "lifetime_s,revoked\nx,1\n", `lifetime_s is "x": not a number`},
		{`price = prices("t.csv")`, "time_s,price\n0,1\n5,x\n", `price is "x": not a number`},
		{`price = prices("t.csv")`, "time_s,price\n0,1\n5,1\n4,1\n", "The time 4s does not come after 5s"},
		{`price = prices("t.csv")`, "time_s,price\n3,1\n", "Not a price"},
		{`price = prices("t.csv")`, "time_s,price\n0,1\n\"5,1\n", "t.csv line 3:\n  3 | \"5,1"},
		{`price = prices("t.csv")`, "time_s,price\n0,1,2\n", "t.csv line 2:\n  2 | 0,1,2\n    | ^^^^^\n\nThe row has 3 fields instead of 2"},
		{`price = prices("t.csv")`, "\n\n", "The file is empty"},
		{`price = prices("t.csv")`, "time_s," + strings.Repeat("c,", 500) + "\n0,1\n", "(501 in all)"},
		{`price = prices("t.csv")`, "time_s," + strings.Repeat("c", 500) + "\n0,1\n", "there are time_s, " + strings.Repeat("c", 39) + "…"},
		{`price = catalogue("t.csv")`, "type,region,market,price\nsmall,west,spot,1\n", `t.csv has no region ""; it has west`},
		{"region = \"west\"\nprice = catalogue(\"t.csv\")", "type,region,market,price\nsmall,west,spot,1\nsmall,east,spot,1\nlarge,west,spot,1\n",
			`t.csv has no price of the type "small" in the region "west" on the market "on_demand"`},
		{"region = \"west\"\nprice = catalogue(\"t.csv\")", "type,region,market,price\nsmall,west,on_demand,x\n", `price is "x": not a number`},
		{"market = \"on_demand\"\nlifetime = exponential(\"1h\")", "", "Servers on demand are not taken away"},
		{"lifetime = exponential(\"1h\")\nwarning = \"1h\"", "", "The warning of 1h is not shorter than the life of a server: 1h"},
		{"max_lifetime = \"1h\"\nwarning = \"2h\"", "", "The warning of 2h is not shorter than the life of a server: 1h"},
	} {
		switch got, text := terms(t, c.args, c.table); {
		case got != nil:
			t.Errorf("%s of %q is accepted", c.args, c.table)
		case !strings.Contains(text, c.want) || strings.Count(text, "Error: ") != 1:
			t.Errorf("%s of %q: want %q, got\n%s", c.args, c.table, c.want, text)
		}
	}
	for args, wanted := range map[string]bool{ // and valid arguments
		"lifetime = exponential(\"1h\")\nwarning = \"59m\"": true, `max_lifetime = "1h"`: true, `price = 0`: true,
	} {
		if got, text := terms(t, args, ""); (got != nil) != wanted {
			t.Errorf("%s: %s", args, text)
		}
	}
}

// The nodes of a cluster: each with its name, each server of a record in another slot.
func TestNodes(t *testing.T) {
	spec, text := decodetest.Beside(t, strings.Replace(cloud, "NODE", `count = 2
    gpus = 2
    memory = "8GiB"
    rack = "r"
    lifetime = availability("t.csv")
    acquire = "on_request"
    idle = "1m"
  }
  node "own" {
    threads = 16`, 1), map[string]string{"t.csv": "time_s,servers\n0,2\n"})
	if spec == nil {
		t.Fatal(text)
	}
	h := spec.Cells[0].Hardware
	node := scheduler.Node{Name: "small-1", Threads: 4, GPUs: 2, Memory: 8 << 30, Rack: "r", Supply: cluster.OnRequest,
		Idle: time.Minute, Market: market.Spot}
	second := node
	second.Name = "small-2"
	if want := []scheduler.Node{node, second, {Name: "own", Threads: 16}}; !slices.Equal(h.Cluster.Nodes, want) {
		t.Errorf("the nodes are %+v", h.Cluster.Nodes)
	}
	if terms := termsOf(h); len(terms) != 3 || terms[0].Slot != 0 || terms[1].Slot != 1 || terms[2] != nil {
		t.Errorf("the terms are %+v", terms)
	}
	for args, want := range map[string]string{
		"count = 2\nprice = 1\nidle = \"1m\"":       "idle is for nodes with acquire",
		"gpu = \"v100\"":                            "gpu is the type of the GPUs",
		"}\nthreads = 3\nnode \"b\" {\nthreads = 1": "threads belongs in the node blocks",
	} {
		if got, text := decodetest.Beside(t, strings.Replace(cloud, "NODE", args, 1), nil); got != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %s", args, text)
		}
	}
	// With the four cores of the first node and 1,023 × 2²⁰, this many more are 2³⁰.
	for more, fits := range map[int]bool{1<<20 - 4: true, 1<<20 - 3: false} {
		args := fmt.Sprintf("}\nnode \"b\" {\ncount = 1023\nthreads = 1048576\n}\nnode \"c\" {\nthreads = %d", more)
		if got, text := decodetest.Beside(t, strings.Replace(cloud, "NODE", args, 1), nil); (got != nil) != fits ||
			!fits && !strings.Contains(text, "The cluster is too large") {
			t.Errorf("%d: %s", more, text)
		}
	}
}
