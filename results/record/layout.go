// Package record defines the results of runs: the files in an experiment's folder and the rows of its tables. It
// reads and writes them. The plain files hold all results; they are replaced atomically and can be read during a run.
package record

import (
	"math"
	"path/filepath"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// Files of an experiment's folder.
const (
	ExperimentFile = "experiment.hcl"
	PlanFile       = "plan.json"
	RunFile        = "run.json"
	JournalFile    = "journal.jsonl"

	// KeyFile is the file in a cell's folder with the description of everything that the cell depends on.
	KeyFile = "key.txt"
	// SamplesDir is the folder of the jobs' samples and their logs.
	SamplesDir = "profile"

	ReportFile = "report.html"
	PlotsDir   = "plots"
	CacheFile  = "cache.db"
	LockFile   = "lock"

	// PicturesFile, in PlotsDir, is the list of pictures with their captions.
	PicturesFile = "pictures.json"

	// Files of a cell's folder, in addition to jobs.csv:
	CellFile      = "cell.json"
	EventsFile    = "events.jsonl"
	DecisionsFile = "decisions.jsonl"
	LogsDir       = "logs"
	// TwinDir is the folder of the cell's simulation, with the same files.
	TwinDir = "simulated"
)

// States of a complete cell. A cell has failed if one of its jobs has, or if its trace is not a valid schedule.
const (
	CellFinished = "finished"
	CellFailed   = "failed"
)

// Plan is the content of plan.json: the questions of the experiment and its cells, in the order of the file. A report
// needs nothing else from the experiment file. Features add members: see RegisterPlanMember.
type Plan struct {
	Schema      int    `json:"schema"`
	Experiment  string `json:"experiment"`
	Description string `json:"description,omitempty"`
	Seed        int64  `json:"seed"`
	Replicates  int    `json:"replicates"`
	// Currency is the unit of money; empty for US dollars.
	Currency  string   `json:"currency,omitempty"`
	Axes      []string `json:"axes"` // axes of the matrix that some cell reads
	Workloads []Named  `json:"workloads"`
	Hardware  []Named  `json:"hardware"`
	Policies  []Named  `json:"policies"`
	// Estimating are the policies that use estimates from samples.
	Estimating []string  `json:"estimating,omitempty"`
	Variables  []Setting `json:"variables,omitempty"`
	Cells      []CellRef `json:"cells"`
	// RunOrder is the order in which the cells run, as indexes into Cells.
	RunOrder []int     `json:"run_order"`
	Compares []Compare `json:"compares"`
	// Thresholds are bounds on the results.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	Plots      []Plot      `json:"plots"`
	// PredictedSeconds is the predicted duration of the plan's work; 0 means unknown.
	PredictedSeconds float64 `json:"predicted_seconds,omitempty"`

	asked map[string]any // the members of features, by name: see RegisterPlanMember
}

// Named is a block with a one-line description, such as "round_robin, quantum 500ms, strict".
type Named struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Log is set for a workload all of whose jobs come from a trace.
	Log bool `json:"log,omitempty"`
	// Origin is the Unix time in seconds that corresponds to time 0 of the log; 0 means unknown.
	Origin float64 `json:"origin_s,omitempty"`
	// Logs is the number of such traces if an axis chooses one; otherwise 0.
	Logs int `json:"logs,omitempty"`
	// Nodes are the nodes of a hardware, in the order of their cores' numbers; empty for a single node.
	Nodes []NodeRef `json:"nodes,omitempty"`
}

// NodeRef is a node of a hardware. The numbers of its cores and GPUs follow the numbers in the nodes before it.
type NodeRef struct {
	Name  string `json:"name"`
	Cores int    `json:"cores"`
	GPUs  int    `json:"gpus,omitempty"`
}

// Setting is a name with a value in its canonical text form.
type Setting = table.Setting

// CellRef identifies a cell, a point of the matrix with a replicate.
type CellRef struct {
	// Cell is the name of the cell, and of its folder under cells/.
	Cell      string `json:"cell" csv:"cell"`
	Workload  string `json:"workload" csv:"workload"`
	Hardware  string `json:"hardware" csv:"hardware"`
	Policy    string `json:"policy" csv:"policy"`
	Replicate int    `json:"replicate" csv:"replicate"` // counted from 1
	Seed      int64  `json:"seed"`
	// Engine is the name of the engine. Simulated is set if jobs took virtual time, and Contained if they ran in
	// containers.
	Engine    string `json:"engine" csv:"engine"`
	Simulated bool   `json:"simulated,omitempty"`
	Contained bool   `json:"contained,omitempty"`
	// Recorded is set if the cell replays recorded runs of jobs: it takes virtual time, but its values were measured.
	Recorded bool `json:"recorded,omitempty"`
	// Fixed is set if nothing in the cell is drawn at random. Its replicates are then equal and count as one.
	Fixed bool `json:"fixed,omitempty"`
	// Axes are the axes that this cell reads.
	Axes []Setting `json:"axes,omitempty"`
	// Cores is the number of cores of the hardware. Key is the hash under which the outputs are cached.
	Cores            int     `json:"cores"`
	GPUs             int     `json:"gpus,omitempty"`
	Key              string  `json:"key"`
	PredictedSeconds float64 `json:"predicted_seconds,omitempty"`
	// Beyond is the value of the feature that added the cell; nil for a cell of the matrix.
	Beyond *FeatureValue `json:"trial,omitempty"`
}

// Variant returns the cell's policy with its axes, such as "rr" or "rr quantum=500ms". Variants are compared, and
// name rows of tables.
func (c CellRef) Variant() string {
	if len(c.Axes) == 0 {
		return c.Policy
	}
	return c.Policy + " " + AxesLabel(c.Axes)
}

// AxesLabel formats axes with their values, as in "load=0.5 quantum=1s".
func AxesLabel(axes []Setting) string { return schema.SettingsText(axes, " ") }

// Real reports whether the cell's jobs ran for real. Results of earlier versions lack Simulated; in them Engine is
// TwinDir for a simulated cell.
func (c CellRef) Real() bool { return !c.Simulated && c.Engine != TwinDir }

// Measured reports whether the cell's values were measured, now or in a recorded run.
func (c CellRef) Measured() bool { return c.Real() || c.Recorded }

// Twin returns the simulation of a real cell as a separate cell, in a subfolder of the real one. It has no key.
func (c CellRef) Twin() CellRef {
	c.Cell += "/" + TwinDir
	c.Engine, c.Simulated, c.Contained, c.Recorded, c.Key, c.PredictedSeconds = TwinDir, true, false, false, "", 0
	return c
}

// Compare describes comparisons on one metric: of a baseline with the variants that differ from it only in the
// settings that the baseline names.
type Compare struct {
	Metric string `json:"metric"`
	// Baseline is a policy that is compared with all others. If the baseline is not only a policy, At has its values
	// of axes (including "policy", "hardware" and "workload").
	Baseline string    `json:"baseline"`
	At       []Setting `json:"at,omitempty"`
	Level    float64   `json:"level"`
	// By is the grouping of jobs within which cells are compared; "" means all jobs together.
	By string `json:"by,omitempty"`
	// Block is the length in seconds of the stretches of a log that are resampled for an interval; 0 means no
	// resampling.
	Block float64 `json:"block_s,omitempty"`
	// Looks are the numbers of pairs at which the comparison is evaluated while replicates are added; empty if the
	// number of replicates is fixed.
	Looks []int `json:"looks,omitempty"`
	// Planned is the number of pairs planned at first. Larger numbers in Looks include added replicates.
	Planned int `json:"planned,omitempty"`
}

// Threshold is a bound on an experiment's results. A nil bound is not set.
type Threshold struct {
	// Metric is a column of metrics.csv, or EstimateError.
	Metric string `json:"metric"`
	// Policy is the policy that the threshold applies to; "" means all.
	Policy string `json:"policy,omitempty"`
	// Min and Max bound the mean over the replicates of a variant. FidelityPct bounds the mean absolute error_pct in
	// fidelity.csv.
	Min         *float64 `json:"min,omitempty"`
	Max         *float64 `json:"max,omitempty"`
	FidelityPct *float64 `json:"fidelity_pct,omitempty"`
}

// EstimateError is the name of the threshold on the mean absolute error_pct of the used rows of estimates.csv.
const EstimateError = "estimate_error_pct"

// Plot selects a kind of picture.
type Plot struct {
	Kind   string `json:"kind"`
	Metric string `json:"metric,omitempty"`
	// X is the axis on which a series, heat map or speed-up is drawn; "" means the first axis with numbers. Y is the
	// other axis of a heat map.
	X string `json:"x,omitempty"`
	Y string `json:"y,omitempty"`
	// By is the grouping whose groups are drawn separately; "" means all jobs together.
	By string `json:"by,omitempty"`
}

// Run is the content of run.json: when and where the experiment ran, and with which program.
type Run struct {
	Started string `json:"started"` // RFC 3339
	Ended   string `json:"ended,omitempty"`
	State   string `json:"state"` // running, finished, failed, interrupted
	// Reported is set when tables, pictures and report include this run. Resume completes a run that was killed
	// before.
	Reported bool      `json:"reported"`
	Version  string    `json:"version"`
	Go       string    `json:"go"`
	Git      string    `json:"git,omitempty"`
	Seed     int64     `json:"seed"`
	Host     []Setting `json:"host"`
	// Python has the interpreters that ran programs of real cells on this machine, as far as they are known.
	Python  []Python `json:"python,omitempty"`
	Command []string `json:"command"`
	// File is the path of the experiment file as the user wrote it.
	File string `json:"file,omitempty"`
	// Lenient is set if malformed lines of traces were skipped.
	Lenient  bool      `json:"lenient,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Reused and Ran are the numbers of reused and executed cells in the last run.
	Reused int `json:"reused"`
	Ran    int `json:"ran"`
	Failed int `json:"failed"`
}

// Python describes a Python interpreter.
type Python struct {
	Interpreter string    `json:"interpreter"` // path
	Version     string    `json:"version,omitempty"`
	Packages    []Setting `json:"packages,omitempty"` // names and versions
	Error       string    `json:"error,omitempty"`    // why the packages are unknown
}

// BusyMachine is the code of the warning that other processes used the machine while a cell ran.
const BusyMachine = "busy_machine"

// Disturbed is the code of the warning that the times of a cell are wrong: tfexp
// was stopped, or the machine slept, while its jobs ran.
const Disturbed = "disturbed"

// Refused is the code of the warning that a program ignores a request of tfexp.
const Refused = "refused"

// Diverged is the code of the warning that the last loss of a job is NaN or infinite.
const Diverged = "diverged"

// FewReplicates is the code of the warning that no comparison can have a verdict.
const FewReplicates = "few_replicates"

// NoLength is the code of the warning that jobs of a cell have no slowdown because they take no time.
const NoLength = "no_length"

// Warning says why a result may be wrong. All views show it.
type Warning struct {
	Code string `json:"code"`           // busy_machine, few_replicates, …
	Cell string `json:"cell,omitempty"` // name of the cell, or of the sample
	// Text does not contain the name of the cell. Views join warnings whose texts differ only in numbers.
	Text string `json:"text"`
}

// Cell is the content of cell.json: the results of a cell without its tables.
type Cell struct {
	CellRef
	State   string  `json:"state" csv:"state"` // finished, failed
	Seconds float64 `json:"seconds"`           // wall time of the run
	Busy    float64 `json:"busy_cores"`        // mean number of cores that other programs used; -1: unknown
	// Tries is how often the cell was run because it was disturbed; 0 if it ran once or that is unknown.
	Tries    int       `json:"tries,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Began is when a real cell began (RFC 3339). Estimated are the estimates of its jobs at that time.
	Began     string      `json:"began,omitempty"`
	Estimated []Estimated `json:"estimated,omitempty"`
	// Error is the error of the cell as a whole, such as an invalid schedule or a failed engine.
	Error string `json:"error,omitempty"`
	// Failures are the first MaxFailures jobs that did not finish, in the order of their ends. Metrics.Failed is the
	// number of all.
	Failures []measure.Failure   `json:"failures,omitempty"`
	Metrics  measure.Metrics     `json:"metrics"`
	Load     measure.OfferedLoad `json:"load" csv:",inline"`
	// Groups are the results by class, user and size of jobs, if there are several.
	Groups []measure.Group `json:"groups,omitempty"`
	// Closed is the horizon in seconds at which the cell was closed; 0 if it was not.
	Closed float64 `json:"closed_s,omitempty"`
	// Outcome is the result of a cell outside the matrix, for the feature that added it; nil for other cells.
	Outcome *FeatureValue `json:"outcome,omitempty"`
	// Files are the cell's tables and traces; logs are not included.
	Files []File `json:"files,omitempty"`
}

// Estimated is the estimate of a job at the begin of a cell: from samples, corrected by earlier real cells on the
// hardware.
type Estimated struct {
	Job     string `json:"job"` // the job block
	Threads int    `json:"threads"`
	GPUs    int    `json:"gpus,omitempty"`
	// Predicted is the run time in seconds of a job that runs alone. Low and High are its interval at the level of
	// the estimates; negative if unknown.
	Predicted float64 `json:"predicted_s"`
	Low       float64 `json:"low_s"`
	High      float64 `json:"high_s"`
	// Factor is Predicted relative to the estimate from samples alone. Runs is the number of runs that it is based
	// on.
	Factor float64 `json:"factor"`
	Runs   int     `json:"runs"`
}

// File is the name and size of a file of a cell.
type File = table.Written

// Intact reports whether the cell in a folder is complete: cell.json exists, and the files that it lists have their
// full sizes.
func Intact(dir string) bool {
	var c struct {
		Files []File `json:"files"`
	}
	return folder.ReadJSON(dir, &c, CellFile) == nil && whole(dir, "", c.Files)
}

// ReadCellFile reads the cell.json of the cell in a folder.
func ReadCellFile(dir string, c *Cell) error {
	c.Load = measure.OfferedLoad{Offered: math.NaN()}
	return folder.ReadJSON(dir, c, CellFile)
}

// whole reports whether all of the files exist below dir with their full sizes.
func whole(dir, at string, files []File) bool {
	for _, f := range files {
		if info, err := folder.Stat(dir, at, filepath.Base(f.Name)); err != nil || info.Size() != f.Size {
			return false
		}
	}
	return true
}

// Picture is a drawn picture, or the reason why it was not drawn.
type Picture struct {
	// Name is the file name without its extension, such as "gantt-mixed-rr-r1".
	Name string `json:"name"`
	// Kind is gantt, jct, metrics, series, cores, predicted, fidelity, heatmap or speedup.
	Kind string `json:"kind"`
	// Cell is the cell that a picture is about; "" if it is about several.
	Cell    string `json:"cell,omitempty"`
	Title   string `json:"title"`
	Caption string `json:"caption"`
	// SVG and PNG are the paths of the files, "" for a skipped picture. In pictures.json they are relative to
	// PlotsDir.
	SVG string `json:"svg,omitempty"`
	PNG string `json:"png,omitempty"`
	PDF string `json:"pdf,omitempty"`
	// Skipped is the reason for which the picture was not drawn.
	Skipped string `json:"skipped,omitempty"`
}
