// Package record defines the results of runs: the folder of an experiment, the
// rows of its tables, and their reading and writing. Plain files are the truth;
// they are written atomically and can be read during a run.
package record

import (
	"math"
	"path/filepath"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// The files of an experiment's folder.
const (
	ExperimentFile = "experiment.hcl"
	PlanFile       = "plan.json"
	RunFile        = "run.json"
	JournalFile    = "journal.jsonl"

	// KeyFile holds, in the folder of a cell, the description of all that the cell depends on.
	KeyFile = "key.txt"
	// SamplesDir has the samples of the jobs, and their logs.
	SamplesDir = "profile"

	ReportFile = "report.html"
	PlotsDir   = "plots"
	CacheFile  = "cache.db"
	LockFile   = "lock"

	// PicturesFile, in PlotsDir, lists the pictures with their captions.
	PicturesFile = "pictures.json"

	// In a cell's folder, next to its own jobs.csv:
	CellFile      = "cell.json"
	EventsFile    = "events.jsonl"
	DecisionsFile = "decisions.jsonl"
	LogsDir       = "logs"
	// TwinDir holds the same files of the cell's simulation.
	TwinDir = "simulated"
)

// The states of a complete cell. A cell has failed when one of its jobs has,
// or when its trace is not a valid schedule.
const (
	CellFinished = "finished"
	CellFailed   = "failed"
)

// Plan is plan.json: the questions of the experiment and the cells it runs, in the order of the file. It is all
// that a report needs to know of the language. Features add further members: see RegisterPlanMember.
type Plan struct {
	Schema      int      `json:"schema"`
	Experiment  string   `json:"experiment"`
	Description string   `json:"description,omitempty"`
	Seed        int64    `json:"seed"`
	Replicates  int      `json:"replicates"`
	Axes        []string `json:"axes"` // the matrix's own axes that some cell reads
	Workloads   []Named  `json:"workloads"`
	Hardware    []Named  `json:"hardware"`
	Policies    []Named  `json:"policies"`
	// Estimating names the policies that decide by estimates from samples.
	Estimating []string  `json:"estimating,omitempty"`
	Variables  []Setting `json:"variables,omitempty"`
	Cells      []CellRef `json:"cells"`
	// RunOrder has the indexes into Cells in the order in which they run.
	RunOrder []int     `json:"run_order"`
	Compares []Compare `json:"compares"`
	// Thresholds are bounds that the results must keep.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	Plots      []Plot      `json:"plots"`
	// PredictedSeconds is how long the work of this plan should take; 0 unknown.
	PredictedSeconds float64 `json:"predicted_seconds,omitempty"`

	asked map[string]any // the members that features bring, by name: see RegisterPlanMember
}

// Named is a block with a one-line description: "round_robin, quantum 500ms, strict".
type Named struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Log reports whether the jobs of a workload come from a trace, and all of them.
	Log bool `json:"log,omitempty"`
	// Origin is the instant from which the times of the log count, in seconds since the beginning of 1970; 0: not known.
	Origin float64 `json:"origin_s,omitempty"`
	// Logs is the number of such traces where an axis chooses among several; else 0.
	Logs int `json:"logs,omitempty"`
	// Nodes are the nodes of a hardware, in the order in which their cores are numbered; empty for a single node.
	Nodes []NodeRef `json:"nodes,omitempty"`
}

// NodeRef is a node of a hardware: its cores and GPUs follow the cores and GPUs of the nodes before it.
type NodeRef struct {
	Name  string `json:"name"`
	Cores int    `json:"cores"`
	GPUs  int    `json:"gpus,omitempty"`
}

// Setting is a name with a value in its canonical text form.
type Setting = table.Setting

// CellRef is one cell with its replicate.
type CellRef struct {
	// Cell is its id, and the name of its folder under cells/.
	Cell      string `json:"cell" csv:"cell"`
	Workload  string `json:"workload" csv:"workload"`
	Hardware  string `json:"hardware" csv:"hardware"`
	Policy    string `json:"policy" csv:"policy"`
	Replicate int    `json:"replicate" csv:"replicate"` // from 1
	Seed      int64  `json:"seed"`
	// Engine is the name of the engine. Simulated reports whether its jobs took virtual time; Contained whether they
	// ran in containers.
	Engine    string `json:"engine" csv:"engine"`
	Simulated bool   `json:"simulated,omitempty"`
	Contained bool   `json:"contained,omitempty"`
	// Recorded reports whether the jobs' behavior was recorded before: the cell takes virtual time, but its values
	// were measured.
	Recorded bool `json:"recorded,omitempty"`
	// Fixed reports whether nothing in the cell is drawn at random: all of its replicates are alike, and count as one.
	Fixed bool `json:"fixed,omitempty"`
	// Axes are the axes that this cell reads.
	Axes []Setting `json:"axes,omitempty"`
	// Cores is the capacity; Key the hash that its outputs are cached under.
	Cores            int     `json:"cores"`
	GPUs             int     `json:"gpus,omitempty"`
	Key              string  `json:"key"`
	PredictedSeconds float64 `json:"predicted_seconds,omitempty"`
	// Beyond is set for a cell that is not a point of the matrix: it is the value of the feature that added it.
	Beyond *FeatureValue `json:"trial,omitempty"`
}

// Variant is the cell's policy with its axes, the unit of comparison and the
// label in tables: "rr", or "rr quantum=500ms".
func (c CellRef) Variant() string {
	if len(c.Axes) == 0 {
		return c.Policy
	}
	return c.Policy + " " + AxesLabel(c.Axes)
}

// AxesLabel names axes with their values: "load=0.5 quantum=1s".
func AxesLabel(axes []Setting) string { return schema.SettingsText(axes, " ") }

// Real reports whether the cell's jobs ran for real. Results of earlier versions lack Simulated: the engine of
// their simulated cells had the name that the folders of twins have.
func (c CellRef) Real() bool { return !c.Simulated && c.Engine != TwinDir }

// Measured reports whether the cell's values were measured: it ran for real, now or when it was recorded.
func (c CellRef) Measured() bool { return c.Real() || c.Recorded }

// Twin is the simulation of a real cell from the fitted estimates. It is a
// separate cell, in a subfolder of the real one's; its key is not known here.
func (c CellRef) Twin() CellRef {
	c.Cell += "/" + TwinDir
	c.Engine, c.Simulated, c.Contained, c.Recorded, c.Key, c.PredictedSeconds = TwinDir, true, false, false, "", 0
	return c
}

// Compare asks for a comparison on one metric: of a baseline with the variants that differ from it only in the
// settings that the baseline names.
type Compare struct {
	Metric string `json:"metric"`
	// Baseline is a policy, where all others are compared with it; At has the values of axes (also "policy",
	// "hardware" and "workload") at which the baseline is, where it is more or other than a policy.
	Baseline string    `json:"baseline"`
	At       []Setting `json:"at,omitempty"`
	Level    float64   `json:"level"`
	// By compares within each class of jobs, user or size; empty for all jobs together.
	By string `json:"by,omitempty"`
	// Block is the length, in seconds, of the stretches of a log that are resampled for an interval; 0 for none.
	Block float64 `json:"block_s,omitempty"`
	// Looks are the numbers of pairs at which it is looked at while replicates are added; none where their number is fixed.
	Looks []int `json:"looks,omitempty"`
	// Planned is the number of pairs that was planned first; looks beyond it are at replicates that were added.
	Planned int `json:"planned,omitempty"`
}

// Threshold is a bound that an experiment's results must keep. A nil bound is
// not set.
type Threshold struct {
	// Metric is a column of metrics.csv, or EstimateError.
	Metric string `json:"metric"`
	// Policy is the one that it is about; empty for all.
	Policy string `json:"policy,omitempty"`
	// Min and Max bound the mean over the replicates of a variant; FidelityPct the
	// mean absolute error_pct of fidelity.csv.
	Min         *float64 `json:"min,omitempty"`
	Max         *float64 `json:"max,omitempty"`
	FidelityPct *float64 `json:"fidelity_pct,omitempty"`
}

// EstimateError is the threshold that is about estimates.csv: the mean
// absolute error_pct of the rows that are used.
const EstimateError = "estimate_error_pct"

// Plot selects a kind of picture.
type Plot struct {
	Kind   string `json:"kind"`
	Metric string `json:"metric,omitempty"`
	// X is the axis that a series, heat map or speed-up is drawn against; empty
	// for the first that has numbers. Y is the other axis of a heat map.
	X string `json:"x,omitempty"`
	Y string `json:"y,omitempty"`
	// By draws each class of jobs, user or size separately; empty for all jobs together.
	By string `json:"by,omitempty"`
}

// Run is run.json: when and where the experiment was run, and by which program.
type Run struct {
	Started string `json:"started"` // RFC 3339
	Ended   string `json:"ended,omitempty"`
	State   string `json:"state"` // running, finished, failed, interrupted
	// Reported is set when tables, pictures and report include this run. A run
	// killed before that is continued by resume.
	Reported bool      `json:"reported"`
	Version  string    `json:"version"`
	Go       string    `json:"go"`
	Git      string    `json:"git,omitempty"`
	Seed     int64     `json:"seed"`
	Host     []Setting `json:"host"`
	// Python describes the interpreters that ran programs of real cells on this machine, as far as they could be seen.
	Python  []Python `json:"python,omitempty"`
	Command []string `json:"command"`
	// File is the experiment file as it was named.
	File string `json:"file,omitempty"`
	// Lenient is set when malformed lines of traces were to be left out.
	Lenient  bool      `json:"lenient,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Reused and Ran count the cells of the last run.
	Reused int `json:"reused"`
	Ran    int `json:"ran"`
	Failed int `json:"failed"`
}

// Python is a Python interpreter.
type Python struct {
	Interpreter string    `json:"interpreter"` // its path
	Version     string    `json:"version,omitempty"`
	Packages    []Setting `json:"packages,omitempty"` // with their versions, by name
	Error       string    `json:"error,omitempty"`    // why its packages are not known
}

// BusyMachine is the code of the warning that other processes used the machine
// while a cell ran.
const BusyMachine = "busy_machine"

// Disturbed is the code of the warning that the times of a cell are wrong: tfexp
// was stopped, or the machine slept, while its jobs ran.
const Disturbed = "disturbed"

// Refused is the code of the warning that a program does not follow its requests.
const Refused = "refused"

// Diverged is the code of the warning that the last loss of a job is NaN or infinite.
const Diverged = "diverged"

// FewReplicates is the code of the warning that no comparison can have a verdict.
const FewReplicates = "few_replicates"

// NoLength is the code of the warning that jobs of a cell have no slowdown, since they take no time.
const NoLength = "no_length"

// Warning is a doubt about a result that every view shows.
type Warning struct {
	Code string `json:"code"`           // busy_machine, few_replicates, …
	Cell string `json:"cell,omitempty"` // or the sample
	// Text does not name the cell. Views join warnings of cells whose texts differ in numbers alone.
	Text string `json:"text"`
}

// Cell is cell.json: the results of a cell other than its tables.
type Cell struct {
	CellRef
	State   string  `json:"state" csv:"state"` // finished, failed
	Seconds float64 `json:"seconds"`           // wall time of the execution
	Busy    float64 `json:"busy_cores"`        // cores used by other programs, on average; -1 unknown
	// Tries is how often the cell ran until nothing disturbed it; 0 when that is not counted or it ran once.
	Tries    int       `json:"tries,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Began is when a real cell began (RFC 3339), and Estimated the estimates of its jobs that were in force then.
	Began     string      `json:"began,omitempty"`
	Estimated []Estimated `json:"estimated,omitempty"`
	// Error is the problem of the cell as a whole: a schedule that the validator
	// rejects, an engine that gave up.
	Error string `json:"error,omitempty"`
	// Failures are the jobs that did not finish, in the order of their ends; at
	// most MaxFailures of them. Metrics.Failed counts all.
	Failures []measure.Failure   `json:"failures,omitempty"`
	Metrics  measure.Metrics     `json:"metrics"`
	Load     measure.OfferedLoad `json:"load" csv:",inline"`
	// Groups are the classes, users and sizes of jobs, where there are several.
	Groups []measure.Group `json:"groups,omitempty"`
	// Closed is the horizon in seconds, when the cell was closed at it.
	Closed float64 `json:"closed_s,omitempty"`
	// Outcome is the result of a cell beyond the matrix, for the feature that added it.
	Outcome *FeatureValue `json:"outcome,omitempty"`
	// Files are the cell's tables and traces, without its logs.
	Files []File `json:"files,omitempty"`
}

// Estimated is the estimate of a job that was in force when a cell began: from its samples, corrected by the runs
// of all jobs in earlier real cells of its hardware.
type Estimated struct {
	Job     string `json:"job"` // the job block
	Threads int    `json:"threads"`
	GPUs    int    `json:"gpus,omitempty"`
	// Predicted is the run time in seconds of a job without neighbors, Low and High bound it at the level of the
	// estimates; these are negative where they are not known.
	Predicted float64 `json:"predicted_s"`
	Low       float64 `json:"low_s"`
	High      float64 `json:"high_s"`
	// Factor is how many times as long as by the samples alone that is, as Runs have shown.
	Factor float64 `json:"factor"`
	Runs   int     `json:"runs"`
}

// File is a file of a cell with its size.
type File = table.Written

// Intact reports whether the cell in a folder is complete: it has a cell.json,
// and the files that this lists, in their full length.
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

// whole reports whether a folder below dir has all of the files, in their full length.
func whole(dir, at string, files []File) bool {
	for _, f := range files {
		if info, err := folder.Stat(dir, at, filepath.Base(f.Name)); err != nil || info.Size() != f.Size {
			return false
		}
	}
	return true
}

// Picture is one drawn picture, or the reason why it was not drawn.
type Picture struct {
	// Name is the file name without its extension: "gantt-mixed-rr-r1".
	Name string `json:"name"`
	// Kind is gantt, jct, metrics, series, cores, predicted, fidelity, heatmap or speedup.
	Kind string `json:"kind"`
	// Cell is set for pictures of one cell.
	Cell    string `json:"cell,omitempty"`
	Title   string `json:"title"`
	Caption string `json:"caption"`
	// SVG and PNG are the paths of the files, empty for a skipped picture. In
	// pictures.json they are relative to the folder of plots.
	SVG string `json:"svg,omitempty"`
	PNG string `json:"png,omitempty"`
	PDF string `json:"pdf,omitempty"`
	// Skipped is the reason that there is no picture.
	Skipped string `json:"skipped,omitempty"`
}
