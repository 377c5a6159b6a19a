package runs_test

import (
	"encoding/csv"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/workload/runs"
)

// folder writes tables into a new folder and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const checkpoints = `Wall Time,Step,Accuracy,Zone,Run
1000.5,0,0.1,east,1
1100.5,50,0.5,east,1
1200.5,101,0.7,east,1
1260.5,101,0.8,east,1
2000,0,0.1,east,11
2050,40,0.4,east,11
2090,20,0.3,east,11
2200,100,0.9,east,11
3000,0,0.1,west,1
3100,60,0.6,west,1
`

const servers = `VM_name,Uptime,Revoked
spot-east-run1-master,250,Job completed
spot-east-run1-worker-0,36,Revoked
spot-east-run11-master,220,Job completed
spot-east-run11-worker-0,230,Job completed
spot-west-run1-master,100,Manually stopped
spot-north-run1-master,100,Job completed
`

func TestRuns(t *testing.T) {
	dir := folder(t, map[string]string{"a.csv": checkpoints, "b.csv": servers, "notes.txt": "x", "c.csv": "a,b\n1,2\n"})
	prices := runs.Options{Steps: 100, WorkerPrice: 36, ParameterServers: 2, ParameterServerPrice: 3.6}
	list, warnings, err := runs.Read(dir, prices)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 {
		t.Fatalf("%d runs", len(list))
	}
	for i, want := range []struct {
		name        string
		duration    time.Duration
		whole       bool
		accuracy    float64
		revocations float64
		cost        float64
		restarted   int
	}{
		// 200 s and 36 s at a cent a second, 2 parameter servers at a tenth of it.
		{"east-run1", 200 * time.Second, true, 0.7, 1, 2.36 + 0.4, 0},
		{"east-run11", 200 * time.Second, true, 0.9, 0, 4.4, 1},
		{"west-run1", 100 * time.Second, false, 0.6, 0, 1.2, 0},
	} {
		r := list[i]
		if r.Name() != want.name || r.Duration != want.duration || r.Whole != want.whole || r.Accuracy != want.accuracy ||
			r.Revocations() != want.revocations || math.Abs(r.Cost-want.cost) > 1e-9 || r.Restarted != want.restarted ||
			!math.IsNaN(r.Loss) {
			t.Errorf("run %d is %+v, want %+v", i, r, want)
		}
	}
	all := strings.Join(warnings, "\n")
	for _, want := range []string{
		"were left out: c.csv", "spot-north-run1-master", "east-run11: its steps go back 1 times",
		"west-run1: it has no end: its last row is at step 60, before 100",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning of %q: %s", want, all)
		}
	}
	if len(warnings) != 4 {
		t.Errorf("%d warnings: %s", len(warnings), all)
	}
	// Without the last step, a run ends with its last row.
	list, _, err = runs.Read(dir, runs.Options{})
	if err != nil || list[0].Duration != 260*time.Second || !list[1].Whole || list[2].Whole || !math.IsNaN(list[0].Cost) {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestZonesBySuffix: a zone can have a prefix in one table that it lacks in another.
func TestZonesBySuffix(t *testing.T) {
	prefixed := "Zone,Run,Cost\nspot2-East,1,7\nfar-east,1,9\nspot2-east,11,8\nspot2-west,1,5\nwest,1,6\nnorth,1,4\nbeast,11,3\n"
	servers := "VM_name,Uptime,Zone,Run\na,10,spot_east,11\nb,20,beast,1\n"
	list, warnings, err := runs.Read(folder(t, map[string]string{
		"a.csv": checkpoints, "b.csv": prefixed, "c.csv": servers,
		"d.csv": "Zone,Run,Cost\neast,11,8.0000001\n", "e.csv": "notes\n1,2\n",
	}), runs.Options{Steps: 100})
	if err != nil {
		t.Fatal(err)
	}
	costs := map[string]float64{}
	for _, run := range list {
		costs[run.Name()] = run.Cost
	}
	if want := map[string]float64{"east-run1": 9, "east-run11": 8, "west-run1": 6}; !maps.Equal(costs, want) {
		t.Errorf("costs %v, want %v", costs, want)
	}
	if s := list[1].Servers; len(s) != 1 || s[0].Name != "a" || len(list[0].Servers) != 0 {
		t.Errorf("servers %v and %v", list[0].Servers, s)
	}
	all := strings.Join(warnings, "\n")
	for _, want := range []string{"costs were left out, because no checkpoint belongs to these runs: beast-run11, north-run1, spot2-East-run1 and 1 more",
		"servers that belong to no run with checkpoints were left out: b;"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q among\n%s", want, all)
		}
	}
	between := "Zone,Run,Cost\nc,1,7\n" // the line between the tables of two zones
	points := "Time,Step,Zone,Run\n0,0,a-c,1\n9,9,a-c,1\n0,0,b-c,1\n9,9,b-c,1\n"
	list, warnings, err = runs.Read(folder(t, map[string]string{"a.csv": points, "b.csv": between}), runs.Options{})
	if err != nil || !math.IsNaN(list[0].Cost) || !math.IsNaN(list[1].Cost) || len(warnings) != 1 {
		t.Errorf("costs %v and %v, warnings %v, %v", list[0].Cost, list[1].Cost, warnings, err)
	}
}

func TestOtherColumns(t *testing.T) {
	dir := folder(t, map[string]string{
		"x.csv": "when,it,top1,exp\n5,10,0.5,a\n9,20,0.25,a\n",
		"y.csv": "exp,paid\na,1.5\n",
	})
	_, _, err := runs.Read(dir, runs.Options{})
	if !errors.Is(err, runs.ErrNoTables) || !strings.Contains(err.Error(), "x.csv with the columns when, it, top1, exp") {
		t.Errorf("error %v", err)
	}
	columns := map[string]string{"time": "when", "step": "it", "accuracy": "top1", "run": "exp", "cost": "paid"}
	list, warnings, err := runs.Read(dir, runs.Options{Columns: columns})
	if err != nil || len(list) != 1 || list[0].Name() != "runa" || list[0].Duration != 4*time.Second ||
		list[0].Cost != 1.5 || len(warnings) != 1 || !strings.Contains(warnings[0], "no row for step 0") {
		t.Errorf("%+v, %q, %v", list, warnings, err)
	}
	if _, _, err = runs.Read(dir, runs.Options{Columns: map[string]string{"tim": "when"}}); err == nil ||
		!strings.Contains(err.Error(), `"tim" is not a property of runs`) {
		t.Errorf("error %v", err)
	}
}

func TestBadTables(t *testing.T) {
	for text, want := range map[string]string{
		"time,step,run\nnoon,0,1\n":         `a.csv:2: the time is "noon"`,
		"time,step,run\n1,-4,1\n":           `a.csv:2: the step is "-4"`,
		"time,step,run\n1,4,\n":             "a.csv:2: the row has no name of a run",
		"time,step,run,accuracy\n1,4,1,x\n": `a.csv:2: the accuracy is "x"`,
		"server,uptime\na,-1\n":             `a.csv:2: the uptime is "-1"`,

		"time,step,run\n1,2.5,1\n":                      `a.csv:2: the step is "2.5"`,
		"time,step,run,accuracy\n1,4,1,0.9\n2,8,1,93\n": `a.csv:3: the accuracy is "93", but must be from 0 to 1`,
		"time,step,run,accuracy\n1,4,1,93%\n":           `a.csv:2: the accuracy is "93%"`,
		"time,step,run,step\n1,4,1,5\n":                 `two columns are called "step"`,
		"run,cost\n1,2\n2,3\n1,2\n":                     `a.csv:4: the run run1 has two costs, here and on line 2 of a.csv`,
	} {
		if _, _, err := runs.Read(folder(t, map[string]string{"a.csv": text}), runs.Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	empty := folder(t, map[string]string{"a.csv": "time,step\n", "b.csv": "server,uptime,revoked\ns1,5,1\n"})
	if _, _, err := runs.Read(empty, runs.Options{}); err == nil || !strings.Contains(err.Error(), "have no rows") {
		t.Errorf("tables without rows: %v", err)
	}
	if _, _, err := runs.Read(t.TempDir(), runs.Options{}); !errors.Is(err, runs.ErrNoTables) {
		t.Errorf("an empty folder: %v", err)
	}
}

// The recorded runs of ResNet-32 on servers of Google's cloud: every row of the
// published costs and durations.
func TestPublishedCosts(t *testing.T) {
	base := os.Getenv("TFEXP_DATA")
	if base == "" {
		t.Skip("TFEXP_DATA does not name a folder of recorded data")
	}
	base = filepath.Join(base, "transient_training")
	if _, err := os.Stat(base); err != nil {
		t.Skip("TFEXP_DATA lacks transient_training")
	}
	const k80, k80Spot, ps = 0.00020083 * 3600, 0.000071 * 3600, 0.0000397 * 3600
	for _, c := range []struct {
		name string
		runs.Options
		rows int
	}{
		{"k80-demand", runs.Options{Workers: 1, WorkerPrice: k80}, 10},
		{"2-demand", runs.Options{Workers: 2, WorkerPrice: k80, ParameterServers: 1, ParameterServerPrice: ps}, 10},
		{"4-demand", runs.Options{Workers: 4, WorkerPrice: k80, ParameterServers: 1, ParameterServerPrice: ps}, 10},
		{"4-spot", runs.Options{WorkerPrice: k80Spot, ParameterServers: 1, ParameterServerPrice: ps}, 32},
		{"p100", runs.Options{WorkerPrice: 0.551}, 33}, // the one rate that its rows imply
	} {
		t.Run(c.name, func(t *testing.T) {
			c.Steps = 64000
			list, _, err := runs.Read(filepath.Join(base, c.name), c.Options)
			if err != nil {
				t.Fatal(err)
			}
			byName := map[string]runs.Run{}
			for _, r := range list {
				byName[r.Name()] = r
			}
			costs := column(t, filepath.Join(base, c.name, "cost.csv"), "Cost")
			if len(costs) != c.rows {
				t.Errorf("%d rows of costs, want %d", len(costs), c.rows)
			}
			worst := 0.0
			for name, want := range costs {
				got, ok := byName[name]
				if !ok {
					t.Errorf("there is no run %s", name)
				}
				worst = max(worst, math.Abs(got.Cost-want))
			}
			if worst >= 0.001 {
				t.Errorf("a cost is %g dollars off", worst)
			}
			for name, want := range column(t, filepath.Join(base, c.name, "train_data_processed.csv"), "Duration") {
				if got := byName[name].Duration.Seconds(); math.Abs(got-want) > 0.001 {
					t.Errorf("%s took %.3f s, want %.3f s", name, got, want)
				}
			}
			t.Logf("%d costs, at most %.2g dollars off", len(costs), worst)
		})
	}
}

// column reads a column of a published table by the names of the runs.
func column(t *testing.T, path, name string) map[string]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, h := range rows[0] {
		at[h] = i
	}
	values := map[string]float64{}
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[at[name]], 64)
		if err != nil {
			t.Fatal(err)
		}
		zone := strings.TrimPrefix(row[at["Zone"]], "demand2-") // of the servers, in one of the tables of costs
		values[zone+"-run"+row[at["Run"]]] = v
	}
	return values
}

// If no table names the runs, each table of checkpoints is one run.
func TestTablesThatAreRuns(t *testing.T) {
	dir := folder(t, map[string]string{"east_data.csv": "Wall time,Step,Accuracy\n10,0,0.1\n20,100,0.9\n",
		"west_data.csv": "Wall time,Step,Accuracy\n10,0,0.1\n50,100,0.8\n"})
	list, warnings, err := runs.Read(dir, runs.Options{Steps: 100})
	if err != nil || len(warnings) != 0 || len(list) != 2 || list[0].Name() != "east_data-run1" ||
		list[1].Name() != "west_data-run1" || list[1].Duration != 40*time.Second {
		t.Errorf("%+v, %q, %v", list, warnings, err)
	}
}

// Prices are ignored without a number of workers. The costs of a table are used.
func TestPricesWithoutWorkers(t *testing.T) {
	tables := map[string]string{"a.csv": checkpoints, "b.csv": "Zone,Run,Cost\neast,1,7\neast,11,8\nwest,1,9\n"}
	list, warnings, err := runs.Read(folder(t, tables), runs.Options{Steps: 100, WorkerPrice: 36})
	if err != nil || list[0].Cost != 7 || list[2].Cost != 9 || !strings.Contains(strings.Join(warnings, "; "), "--workers") {
		t.Errorf("%g and %g, %q, %v", list[0].Cost, list[2].Cost, warnings, err)
	}
	list, _, err = runs.Read(folder(t, tables), runs.Options{Steps: 100, WorkerPrice: 36, Workers: 2})
	if err != nil || math.Abs(list[0].Cost-4) > 1e-9 { // 2 workers for 200 s at a cent a second
		t.Errorf("with workers: %g, %v", list[0].Cost, err)
	}
}
