// Package recorded is an engine that replays recorded training runs in virtual time. A job takes as long as its
// recorded run, reports its measurements, and has its cost. It fails if the record ends before the last step.
package recorded

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/runs"
)

var _ = engine.Register(&kind)

// settings has the recorded runs that the hardware replays.
type settings struct {
	arguments
	runs []runs.Run
}

//go:embed hardware_block.go
var source embed.FS

// arguments are the arguments of a hardware block.
type arguments struct {
	// The folder of the recorded runs, with CSV tables of checkpoints and perhaps servers (docs/results.md, Recorded
	// runs); relative to the experiment file.
	//
	//	runs = "4-spot"
	Runs string `arg:"runs"`
	// The number of the last step of a complete run.
	//
	// Default: the step of its last row.
	//
	//	steps = 64000
	Steps int `arg:"steps" min:"1" max:"9007199254740992"`
	// The names of columns that differ from the expected names `time`, `step`, `accuracy`, `loss`, `group`, `run`,
	// `server`, `uptime`, `revoked`, `cost`.
	//
	//	columns = { time = "when" }
	Columns map[string]string `arg:"columns"`
	// The texts in the column `revoked` that mark a revoked server.
	//
	// Default: `revoked`, `preempted`, `true`, `yes`, `1`.
	//
	//	revoked = ["gone"]
	Revoked []string `arg:"revoked"`
	// What happens to a run whose records end before its last step: its job fails, or tfexp leaves out the run.
	//
	//	unfinished = "skip"
	Unfinished string `arg:"unfinished" default:"fail" allowed:"fail skip"`
	// The number of workers of a run, for its cost.
	//
	// Default: the servers of the run.
	//
	//	workers = 4
	Workers int `arg:"workers" min:"1" max:"nodes"`
	// The price of a worker, in dollars per hour.
	//
	//	worker_price = 0.2556
	WorkerPrice float64 `arg:"worker_price" default:"0" min:"0" max:"1e6"`
	// The number of parameter servers of a run, for its cost.
	//
	//	parameter_servers = 1
	ParameterServers int `arg:"parameter_servers" default:"0" min:"0" max:"nodes"`
	// The price of a parameter server, in dollars per hour.
	//
	//	parameter_server_price = 0.14292
	ParameterServerPrice float64 `arg:"parameter_server_price" default:"0" min:"0" max:"1e6"`
}

var kind = engine.Kind{
	Name: "recorded", Rank: 40,
	Doc: "replays recorded training runs in virtual time. Replicate 1 takes the first run of a folder, " +
		"replicate 2 the next. The jobs of a cell run one after the other. A job has the run time, accuracy, " +
		"cost and revocations of its recorded run. If its block has a `runtime`, the cell is simulated as " +
		"well, and both are compared. Jobs cannot be paused or resized (experiments/papers/recorded_runs)",
	Traits: engine.Traits{Recorded: true},
	Args:   schema.Described[arguments](source),
	Decode: decode,
	Capabilities: func(*engine.Hardware) scheduler.Capabilities {
		return scheduler.Capabilities{Memory: true, GPUs: true}
	},
	Lines:    lines,
	Records:  func(h *engine.Hardware) int { return len(of(h).runs) },
	Simulate: simulate,
}

func of(h *engine.Hardware) *settings { s, _ := h.Settings.(*settings); return s }

// decode checks the arguments, and reads the recorded runs.
func decode(b engine.Block) (any, []engine.Problem) {
	s := &settings{}
	fail := func(arg, summary, detail string) (any, []engine.Problem) {
		return s, []engine.Problem{{Arg: arg, Summary: summary, Detail: detail}}
	}
	b.Values.Fill(&s.arguments)
	folder := s.Runs
	if folder == "" && b.Set["runs"] {
		return s, nil // the argument has an error already
	}
	if folder == "" {
		return fail("", "Hardware without recorded runs", "runs must name the folder of the recorded runs.")
	}
	options := runs.Options{
		Columns: s.Columns, Steps: s.Steps, Revoked: s.Revoked, Workers: s.Workers,
		ParameterServers: s.ParameterServers, WorkerPrice: s.WorkerPrice, ParameterServerPrice: s.ParameterServerPrice,
	}
	if err := options.CheckColumns(); err != nil {
		return fail("columns", "Unknown fact", capital(err.Error())+".")
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(b.Base, folder)
	}
	list, _, err := runs.Read(folder, options)
	if err != nil {
		return fail("runs", "Recorded runs that cannot be read", capital(err.Error())+".")
	}
	if s.Unfinished == "skip" {
		list = slices.DeleteFunc(list, func(r runs.Run) bool { return !r.Whole })
	}
	s.runs = list
	return s, nil
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// lines returns key lines for all data of the records, so that cells run again if the data change.
func lines(h *engine.Hardware) []engine.KeyLine {
	var list []engine.KeyLine
	for _, r := range of(h).runs {
		sum := sha256.Sum256(fmt.Appendf(nil, "%+v", r))
		label := fmt.Sprintf("hardware.run.%04d", len(list)+1)
		list = append(list, engine.KeyLine{Label: label, Value: r.Name() + " " + hex.EncodeToString(sum[:8])})
	}
	return list
}

// Engine replays one recorded run for each job of a cell.
type Engine struct {
	scheduler.Engine
	runs  []*runs.Run // by job
	began []time.Duration
	now   time.Duration
	price float64 // of a worker, in dollars per hour
}

// simulate makes the engine of a cell. It chooses recorded runs for the jobs.
func simulate(s engine.Simulation) (scheduler.Engine, error) {
	all := of(s.Hardware).runs
	first := (s.Replicate - 1) * len(s.Jobs)
	if len(all) < first+len(s.Jobs) {
		return nil, fmt.Errorf("the folder has %d recorded runs, but this cell needs the runs %d to %d: reduce "+
			"the replicates or the jobs", len(all), first+1,
			first+len(s.Jobs))
	}
	e := &Engine{began: make([]time.Duration, len(s.Jobs)), price: of(s.Hardware).WorkerPrice}
	work := make([]simulated.Scaling, len(s.Jobs))
	for i, j := range s.Jobs {
		r := &all[first+i]
		e.runs = append(e.runs, r)
		work[i] = simulated.FullRequest(max(r.Duration, time.Microsecond), j.Threads)
	}
	inner, err := simulated.New(s.Jobs, work, simulated.Options{Lacks: scheduler.Capabilities{Pause: true, Resize: true}})
	e.Engine = inner
	return e, err
}

// Start implements scheduler.Engine.
func (e *Engine) Start(job int, grant scheduler.Grant) error {
	e.began[job] = e.now
	return e.Engine.Start(job, grant)
}

// Next implements scheduler.Engine. A job whose record ends before the last step has failed.
func (e *Engine) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	now, news, err := e.Engine.Next(ctx, until)
	e.now = now
	for i := range news {
		n := &news[i]
		if n.Kind == scheduler.JobEnded && n.State == scheduler.Finished && !e.runs[n.Job].Whole {
			n.State, n.Reason = scheduler.Failed, "its recorded run ends before the last step"
		}
	}
	return now, news, err
}

// Replayed implements engine.Replay.
func (e *Engine) Replayed(job int) engine.Replayed {
	r := e.runs[job]
	out := engine.Replayed{
		Accuracy: r.Accuracy, Loss: r.Loss, Cost: r.Cost, Revocations: r.Revocations(),
	}
	for _, s := range r.Servers {
		paid := r.Duration
		if s.Revoked {
			paid = s.Uptime
		}
		out.Servers = append(out.Servers, engine.ReplayedServer{
			Name: s.Name, Role: "worker", From: e.began[job], Uptime: s.Uptime, Revoked: s.Revoked, PricePerHour: e.price,
			Cost: e.price * paid.Hours(),
		})
	}
	for _, p := range r.Points {
		line := contract.Progress{Step: p.Step}
		if accuracy := p.Accuracy; accuracy == accuracy {
			line.Accuracy = &accuracy
		}
		if loss := p.Loss; loss == loss {
			line.Loss = &loss
		}
		out.Progress = append(out.Progress, engine.ReplayedProgress{At: e.began[job] + p.At, Progress: line})
	}
	return out
}
