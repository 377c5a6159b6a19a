//go:build unix

package steering_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute"
	"github.com/tfexp/tfexp/stages/steering"
)

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Setenv(execute.KeepDisturbed, "1") // tests run in parallel and disturb each other
	os.Exit(m.Run())
}

// byEpoch is a controller that decides by the number of finished epochs.
type byEpoch map[int]control.Action

func (b byEpoch) Decide(r control.Report) control.Action { return b[r.Epoch] }

func init() {
	control.Register(control.Choice{Name: "test_by_epoch", New: func(o control.Options) (control.Controller, error) {
		return o.Values["actions"].(byEpoch), nil
	}})
}

// program trains for 12 epochs with two settings. It adopts "pace" while it runs; "width" is an argument.
const program = `n=0; f=$TFEXP_CHECKPOINT_DIR/n; [ -f $f ] && n=$(cat $f)
pace=slow
trap 'echo $n > $f; exit 143' TERM
echo "width $1"
while [ $n -lt 12 ]; do
  sleep 0.05
  [ $n.$1 != 4.1 ] && [ $n != 10 ] || while :; do sleep 0.05; done # until it is ended
  [ $n != 2 ] || until grep -q fast $TFEXP_CONTROL; do sleep 0.05; done
  case $(cat $TFEXP_CONTROL) in *'"pace":"fast"'*) if [ $pace = slow ]; then pace=fast
    echo '{"tfexp":{"changed":{"settings":{"pace":"fast"},"seconds":0}}}'; fi;; esac
  n=$((n+1))
  echo "{\"tfexp\":{\"epoch\":$n,\"loss\":0.$((20-n)),\"accuracy\":0.$((10+n))}}"
done`

// alone is the session of a process engine for one cell.
type alone struct{ engine.Session }

func (alone) Local(*engine.Hardware) bool { return false }

func (alone) Engine(_ context.Context, t engine.Task) (engine.Engine, error) {
	return process.New(t.Jobs, process.Options{Report: t.Report})
}

// steeredTask returns a cell with one job and its controller.
func steeredTask(t *testing.T, actions byEpoch) stages.Task {
	dir := filepath.Join(t.TempDir(), record.CellsDir, "c")
	jobs := []scheduler.Job{{Name: "a", Class: "a", Threads: 1, Deadline: scheduler.Never}}
	at := func(settings []control.Setting) (steering.Variant, error) {
		v := steering.Variant{Threads: 1, Live: []string{"pace"}, Work: simulated.Training(time.Second, 12, 10*time.Second, 0)}
		width := "1"
		for _, s := range settings {
			switch s.Name {
			case "width":
				if width = s.Value; width == "2" {
					v.Work = simulated.Training(time.Second, 12, 5*time.Second, 0)
				}
			case "pace":
			default:
				return v, fmt.Errorf("the job has no setting %q", s.Name)
			}
		}
		v.Launch = launch.Job{
			Name: "a", Argv: []string{"/bin/sh", "-c", program, "sh", width}, Threads: 1,
			LogPath: filepath.Join(dir, "logs", "a.log"), ControlPath: filepath.Join(dir, "scratch", "control"),
			CheckpointDir: filepath.Join(dir, "scratch", "checkpoint"),
		}
		return v, nil
	}
	first, _ := at(nil)
	return stages.Task{
		Folders: stages.Folders{Dir: dir, Scratch: filepath.Join(dir, "scratch")}, Logs: filepath.Join(dir, "logs"),
		Records: record.AllRecords, Policy: policy.Policy{Order: policy.FCFS}, Launches: []launch.Job{first.Launch},
		Setup: record.Setup{
			Cell:  record.CellRef{Cell: "c", Workload: "w", Hardware: "h", Policy: "p", Replicate: 1, Engine: "process"},
			Setup: measure.Setup{Jobs: jobs, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 1}}}},
		},
		Hardware: stages.Hardware{Name: "h", Kind: "process"},
		Parts: []stages.TaskPart{&steering.Controllers{Jobs: []steering.Job{{
			Units: 12, Controller: "test_by_epoch", Options: control.Options{Values: map[string]any{"actions": actions}},
			Settings: []control.Setting{{Name: "pace", Value: "slow"}, {Name: "width", Value: "1"}}, At: at,
		}}}},
	}
}

// decisionsOf reads decisions.csv.
func decisionsOf(t *testing.T, dir string) []steering.Row {
	t.Helper()
	exp := &record.Experiment{Dir: filepath.Dir(filepath.Dir(dir))}
	rows, err := steering.Decisions.Read(exp.Dir, record.CellsDir, record.CellRef{Cell: "c"}.Cell)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// rowsOf reads decisions.csv, without its instants.
func rowsOf(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	for _, r := range decisionsOf(t, dir) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s | %s | %s | %s | %s | %s", r.Epoch, r.Action, r.Settings,
			r.After, r.How, r.Took, r.Reason)))
	}
	return strings.Join(lines, "\n")
}

// A controller changes a program while it runs, restarts it from its checkpoint, and stops it.
func TestControllersOfPrograms(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("jobs are followed on Linux")
	}
	set := func(name, value string) control.Action {
		return control.Action{Settings: []control.Setting{{Name: name, Value: value}}, Reason: "test"}
	}
	task := steeredTask(t, byEpoch{
		2: set("pace", "fast"), 4: set("width", "2"), 6: set("depth", "3"), 8: {Reason: "all is well"}, 10: {Stop: true,
			Reason: "good enough"},
	})
	cell, err := execute.Real(context.Background(), task, execute.Machine{Site: alone{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if cell.State != record.CellFinished {
		t.Errorf("the cell is %s: %s %v", cell.State, cell.Error, cell.Failures)
	}
	want := `2 settings | pace=slow width=1 | pace=fast width=1 | in place | yes | test
4 settings | pace=fast width=1 | pace=fast width=2 | restart | yes | test
6 settings | pace=fast width=2 | pace=fast width=2 | refused |  | the job has no setting "depth"
8 nothing | pace=fast width=2 | pace=fast width=2 |  |  | all is well
10 stop | pace=fast width=2 | pace=fast width=2 |  |  | good enough`
	if got := rowsOf(t, task.Dir); got != want {
		t.Errorf("the decisions are\n%s\nwant\n%s", got, want)
	}
	log, err := os.ReadFile(filepath.Join(task.Logs, "a.log"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(log)
	if !strings.Contains(text, "width 2") || strings.Count(text, `"epoch":1,`) != 1 || !strings.Contains(text, launch.Restarted) {
		t.Errorf("the job did not go on from its checkpoint with the other width:\n%s", text)
	}
	if n := measure.Reconfigurations.Of(&cell.Metrics); n != 1 {
		t.Errorf("%v reconfigurations", n)
	}
}

// The same controller changes a simulated job, and its decisions have the same effects, to the nanosecond.
func TestControllersOfSimulatedJobs(t *testing.T) {
	task := steeredTask(t, byEpoch{
		4: {Settings: []control.Setting{{Name: "width", Value: "2"}}, Restart: true,
			Expected: &control.Expected{Gain: 40, Cost: 1, Sure: 0.9}},
	})
	first, _ := task.Parts[0].(*steering.Controllers).Jobs[0].At(nil)
	task.Simulation = &stages.Simulation{Jobs: task.Setup.Jobs, Work: []simulated.Scaling{first.Work}}
	task.Hardware = stages.Hardware{}
	task.Logs, task.Launches = "", nil
	cell, err := execute.Simulate(context.Background(), task, nil)
	if err != nil {
		t.Fatal(err)
	}
	// 1 s of start-up, four epochs of 10 s, 1 s again, eight epochs of 5 s
	if got := measure.Makespan.Of(&cell.Metrics); got != 82 || cell.State != record.CellFinished {
		t.Errorf("it took %v s, and is %s: %s", got, cell.State, cell.Error)
	}
	rows := decisionsOf(t, task.Dir)
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	// The last of its eight epochs is known from the job's end and is not reported.
	if r := rows[0]; r.How != "restart" || r.Gain != 40 || r.Cost != 1 || r.Sure != 0.9 || r.ActualGain != 35 ||
		r.ActualCost != 1 || r.ActualRemaining != 41 {
		t.Errorf("%+v", r)
	}
}
