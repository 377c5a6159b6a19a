package formats

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

//go:embed table.go
var source embed.FS

// TableArgs are the arguments of tables of jobs.
type TableArgs struct {
	// The column for each property of a job: `arrival`, `run_time` (or `start` and `end`), `requested_time`, `threads`,
	// `gpus`, `nodes`, `memory`, `memory_used`, `batch_size`, `job` (its name), `class`, `user`, `priority`. A named
	// column replaces the format's own. A job can have alternatives: `cpu_run_time` is its run time on the CPU alone,
	// and any other `<type>_run_time` its run time on GPUs of the type. `<name>_requested_time`, `<name>_threads`,
	// `<name>_gpus` and `<name>_memory` are the alternative's; properties without a column are the job's. A job whose
	// run time is empty does not have that alternative.
	//
	// Default: the format's.
	//
	//	columns = { arrival = "submit_time", run_time = "duration", gpus = "gpu_num" }
	Columns []schema.Setting `arg:"columns"`
	// The rows to read: by column, the text that they must have, or several texts separated by `|`. The others are left
	// out and counted.
	//
	// Default: all.
	//
	//	where = { state = "COMPLETED|FAILED" }
	Where []schema.Setting `arg:"where"`
	// The class of all jobs, if no column has a class.
	//
	//	class = "training"
	Class string `arg:"class" default:"job"`
	// The character between two fields.
	//
	// Default: the format's; a comma for `table`.
	//
	//	separator = ";"
	Separator string `arg:"separator"`
	// Whether dates begin with the day or the month: whether 03/04/2024 is 3 April or March 4.
	//
	// Default: as the first of the file shows that has a number above 12.
	//
	//	dates = "day_first"
	Dates string `arg:"dates" allowed:"day_first month_first"`
	// The most GPUs of a job on one node: tfexp divides larger jobs evenly over as few nodes as possible.
	//
	// Default: any number.
	//
	//	gpus_per_node = 8
	GPUsPerNode int `arg:"gpus_per_node" min:"1" max:"1024"`
	// The threads of a job for each of its GPUs, if no column has threads. Without GPUs it has one.
	//
	//	threads_per_gpu = 4
	ThreadsPerGPU int `arg:"threads_per_gpu" default:"1" min:"1" max:"1024"`
	// The unit of memory sizes without a unit in the file.
	//
	// Default: `1MiB`.
	//
	//	memory_unit = "1GiB"
	MemoryUnit int64 `arg:"memory_unit"`
	// The unit of requested times that are numbers, if it differs from `unit`.
	//
	// Default: `unit`; minutes for the formats of Slurm.
	//
	//	requested_unit = "1h"
	RequestedUnit time.Duration `arg:"requested_unit,positive"`
}

// TableSchema returns the arguments of tables, and the unit of times.
func TableSchema() []schema.Arg {
	return slices.Insert(schema.Described[TableArgs](source), 4, UnitArg)
}

// TableArgs returns the values of these arguments, or their defaults.
func (o Options) TableArgs() TableArgs {
	a := TableArgs{Class: "job", ThreadsPerGPU: 1, MemoryUnit: 1 << 20}
	schema.Fill(&a, o.Args)
	return a
}

// columnsArg is the name of the argument for columns. dayOrders are the values of the argument dates.
const columnsArg = "columns"

var dayOrders = []string{"day_first", "month_first"}

// TableHolds are the facts that tables of jobs can have.
const TableHolds = RunTimes | RequestedTimes | Memory | GPUs | Nodes | Priorities | Users | Batches | Alternatives

var _ = Register(&Format{
	Name: "table", Rank: 10, Holds: TableHolds,
	Doc: "Any CSV file with a line of column names, in UTF-8 or UTF-16. `columns` tells tfexp " +
		"what the columns are; only `arrival` is required. Lines that begin with `#` are left out, and also " +
		"up to 20 lines before the line with all names of `columns`. Instants are numbers of `unit`, or " +
		"dates. Dates, and numbers of more than 10⁸ s, count from the first arrival. Dates are like " +
		"`2024-03-12 10:03:01`, `12 Mar 2024 10:03`, `Mar 12 10:03:01 2024` or `12/03/2024 10:03`. Times are " +
		"numbers of `unit`, like `1-02:03:04`, or with units like `1h30m`, `90 min` and `PT1H30M`. Numbers of " +
		"threads, GPUs and nodes may be like `1,024` or `150%`. GPUs may be a list of the used ones, like " +
		"`0,1,2`. A column like `cpu=4,mem=16G,gres/gpu:a100=2` can be the column of threads, GPUs, memory " +
		"and nodes at once.",
	Args:   TableSchema(),
	Reader: (&Layout{}).Read,
})

// The facts about a job that a column can have.
const (
	FactArrival   = "arrival"
	FactRunTime   = "run_time"
	FactStart     = "start"
	FactEnd       = "end"
	FactRequested = "requested_time"
	FactThreads   = "threads"
	FactGPUs      = "gpus"
	FactNodes     = "nodes"
	FactMemory    = "memory"
	FactUsed      = "memory_used"
	FactBatch     = "batch_size"
	FactJob       = "job"
	FactClass     = "class"
	FactUser      = "user"
	FactPriority  = "priority"
)

var tableFacts = []string{
	FactArrival, FactRunTime, FactStart, FactEnd, FactRequested, FactThreads, FactGPUs, FactNodes, FactMemory, FactUsed,
	FactBatch, FactJob, FactClass, FactUser, FactPriority,
}

// Layout describes the columns of a format of tables.
type Layout struct {
	// Columns has the possible names of the column of each fact; the first that the file has is used.
	Columns map[string][]string
	// Names are the names of all columns, for files without a header line.
	Names     []string
	Separator rune
	// Rows reads the rows of files that are not plain CSV. Memory, GPUs and Count parse amounts that have another form.
	// Tracked returns the amount of a resource in a list: for "cpu" in "cpu=4,mem=8G", it is "4". Each may be nil.
	Rows    textfile.EachRows
	Memory  func(text string, unit int64) (bytes int64, each byte, err error)
	GPUs    func(text string, nodes int) (int, error)
	Count   func(text string) (int, error)
	Tracked func(list, name string) string
	// GPUScale and CPUScale are the number in a column that means one GPU or one thread; 0 means 1.
	GPUScale, CPUScale float64
	// Repeats says that several jobs can have the same name. A number is then appended to their names.
	Repeats bool
	// Began says that a job without a start has never run, even if it has a run time.
	Began bool
	// RequestedUnit is the unit of requested times; 0 means the unit of the file.
	RequestedUnit time.Duration
	// Times is the column with the number of equal parts of a job. Its threads and GPUs are multiplied by it; empty
	// for no such column.
	Times string
	// Tasks is the column with the number of tasks, by which used memory is multiplied; empty for no such column.
	Tasks string
	// Part is the column with the fraction of one GPU that a job uses, in thousandths; empty for no such column.
	Part string
	// Slurm says that Slurm has written the file.
	Slurm bool
	// Ignore reports whether a row is not a separate job.
	Ignore func(job string) bool
	// Unused returns a sentence about columns of a file that are not used. It returns an error for columns that the
	// format does not have. It is nil if any columns are allowed.
	Unused func(columns []string) (said string, err error)
	// Assumptions are the assumptions of the format, as sentences for users.
	Assumptions []string
}

// table is the state while a file is read.
type table struct {
	*Layout
	logs.Builder
	at    map[string]int // column index by fact; facts without a column are left out
	named map[string]string
	where []schema.Setting
	columnIndexes
	o      Options
	args   TableArgs
	latest time.Duration // latest instant so far
	first  time.Duration
	dated  bool
	count  int
	// alternatives are the names of the alternatives that columns describe.
	alternatives []string
	// attempts and repeated have, in tables of Slurm, the indexes of the first job of a number and of its other jobs.
	attempts map[string]int
	repeated map[string][]int
	counted
	commas  bool   // commas separate fields
	cluster string // in tables of Slurm, the cluster of the rows so far

	file    string
	order   logs.DayOrder // order of day and month in dates that end with the year
	compact logs.CompactDates
	limits  limitsSeen
	held    []heldRow // rows that are kept until one shows the order
	late    []error   // errors of the kept rows
	line    int       // line that is being read
	// Lines of the first instant that is a number, a date with a zone, or a date without a zone; 0 for none so far.
	numbers, zoned, zoneless int
	// percent has, for facts that may be in percent, the lines of the first plain number and of the first number in
	// percent.
	percent map[string]*[2]int
}

// columnIndexes are the indexes of columns; negative if the file does not have the column.
type columnIndexes struct {
	whereI                []int
	timesI, partI, tasksI int
	clusterI              int // in tables of Slurm
}

// counted counts rows of some kinds, for messages.
type counted struct {
	parts   int // jobs that use a part of a GPU
	shards  int // in tables of Slurm, jobs that ask for parts of GPUs by count
	never   int // jobs that never started
	running int // jobs that have not ended
	arrays  int // rows for several tasks of an array
	again   int // jobs with the name of an earlier one
	twice   int // rows of a job that an earlier row has
	early   int // the line of the first job that starts before its arrival; 0 for none so far
}

// Read reads a file of the layout.
func (l *Layout) Read(file string, r io.Reader, o Options) (workload.Trace, error) {
	t := table{
		Layout: l, file: file, o: o, args: o.TableArgs(), at: map[string]int{}, named: map[string]string{},
		attempts: map[string]int{}, repeated: map[string][]int{},
		first: math.MaxInt64, columnIndexes: columnIndexes{timesI: -1, partI: -1, tasksI: -1, clusterI: -1},
	}
	form := textfile.Table{Separator: l.Separator, Names: l.Names, Each: l.Rows, Remarks: true}
	if text := t.args.Separator; text != "" {
		runes := []rune(text)
		if len(runes) != 1 || strings.ContainsRune("\"\r\n\uFFFD", runes[0]) {
			return workload.Trace{}, &ArgError{"separator", fmt.Errorf("the separator %q is not one character", text)}
		}
		form.Separator = runes[0]
	}
	t.commas = form.Separator == 0 || form.Separator == ','
	t.where = t.args.Where
	if mapped := t.args.Columns; len(mapped) > 0 {
		form.Heads = func(columns []string) bool { return hasAll(columns, mapped) }
	}
	t.order = logs.DayOrder(1 + slices.Index(dayOrders, t.args.Dates))
	skipped, err := form.EachRow(file, r, o.Lenient, t.head, t.row)
	t.release()
	remedy := "write dates like 2017-10-03 05:33:33"
	if t.Slurm {
		remedy = "print them with SLURM_TIME_FORMAT=standard"
	}
	if err := t.compact.Err(file, remedy); err != nil {
		return workload.Trace{}, err
	}
	if err != nil || len(t.late) > 0 && !o.Lenient {
		return workload.Trace{}, errors.Join(append(t.late[:min(len(t.late), textfile.MaxErrors)], err)...)
	}
	skipped = append(t.late, skipped...)
	slices.SortStableFunc(skipped, func(a, b error) int { return cmp.Compare(lineAt(a), lineAt(b)) })
	if len(t.Jobs) > 0 && (t.dated || t.latest > latestInstant) {
		for i := range t.Jobs {
			t.Jobs[i].Arrival -= t.first
		}
		for i := range t.Open {
			t.Open[i].Start -= t.first
		}
		t.Origin = t.first
	}
	t.Assumed = slices.Concat(l.Assumptions, t.Assumed)
	if _, ok := t.at[FactThreads]; !ok {
		t.Assumed = append(t.Assumed, fmt.Sprintf("the file has no column with threads: a job gets %d for each GPU, or "+
			"1 without a GPU", t.args.ThreadsPerGPU))
	}
	if span := t.latest - t.first; !t.dated && span > longestLog {
		t.Assumed = append(t.Assumed, fmt.Sprintf("the jobs arrive over %d years: perhaps some times count from 1970, "+
			"and others from the start of the log", span/(365*24*time.Hour)))
	}
	if t.zoned > 0 && t.zoneless > 0 {
		t.Assumed = append(t.Assumed, fmt.Sprintf("dates without a zone, as in line %d, are of UTC, beside dates "+
			"with one, as in line %d", t.zoneless, t.zoned))
	}
	for _, fact := range []string{FactThreads, FactGPUs, FactNodes} {
		if at := t.percent[fact]; at != nil && at[0] > 0 && at[1] > 0 {
			t.Assumed = append(t.Assumed, fmt.Sprintf("%s has percent, as in line %d, beside plain numbers, as in "+
				"line %d, which are taken as they are", t.named[fact], at[1], at[0]))
		}
	}
	if t.limits.wrongUnit() {
		t.Assumed = append(t.Assumed, fmt.Sprintf("most jobs (%d of %d) ran much longer than %s, which is read in units "+
			"of %s: for minutes, write  requested_unit = \"1m\"", t.limits.exceeded, t.limits.all, t.named[FactRequested],
			t.unitOfRequests()))
	}
	if t.never+t.running > 0 {
		t.Assumed = append(t.Assumed, fmt.Sprintf("jobs that never started (%d) or have not ended (%d) are left out",
			t.never, t.running))
	}
	if t.parts > 0 {
		t.Assumed = append(t.Assumed, fmt.Sprintf("jobs that ask for a part of a GPU (%d) have the whole one", t.parts))
	}
	if t.shards > 0 {
		t.Assumed = append(t.Assumed, fmt.Sprintf("jobs that ask for parts of GPUs, as shard or mps (%d), "+
			"get no GPU", t.shards))
	}
	if t.again > 0 {
		t.Assumed = append(t.Assumed, fmt.Sprintf("rows that repeat the number of an earlier job (%d), which was "+
			"started again or has ended, count as further jobs: the second row of 7 is 7-2", t.again))
	}
	if t.early > 0 {
		t.Assumed = append(t.Assumed, fmt.Sprintf("the wait of jobs that start before they arrive, as in line %d, is "+
			"unknown", t.early))
	}
	if t.twice > 0 {
		t.Assumed = append(t.Assumed, fmt.Sprintf("rows that are there twice (%d), as where two exports overlap, count "+
			"once", t.twice))
	}
	if t.arrays > 0 {
		t.Assumed = append(t.Assumed, fmt.Sprintf("rows for several tasks of an array are one job each, of which "+
			"there are %d: squeue -r lists the tasks", t.arrays))
	}
	return t.Finish(skipped), nil
}

// hasAll reports whether a row has the names of all mapped columns.
func hasAll(row []string, mapped []schema.Setting) bool {
	for _, c := range mapped {
		if !slices.ContainsFunc(row, func(name string) bool { return strings.TrimSpace(name) == c.Value }) {
			return false
		}
	}
	return true
}

// latestInstant is about three years, later than any instant that counts from the start of a log.
const latestInstant = 100_000_000 * time.Second

// longestLog is longer than any log, and shorter than the time from 1970 to any log.
const longestLog = 20 * 365 * 24 * time.Hour

// head finds the columns of the facts.
func (t *table) head(columns []string) error {
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	find := func(name string) int { return slices.Index(columns, name) }
	missing := func(name string) error {
		err := fmt.Errorf("there is no column %q; there are %s", name, textfile.Names(columns))
		if at := strings.IndexAny(columns[0], ";|\t"); at >= 0 && len(columns) == 1 {
			return fmt.Errorf("%w: perhaps the file has another separator: separator = %q", err,
				columns[0][at:at+1])
		}
		return err
	}
	for _, fact := range tableFacts {
		for _, name := range t.Columns[fact] {
			if i := find(name); i >= 0 {
				t.at[fact], t.named[fact] = i, name
				break
			}
		}
	}
	for _, c := range t.args.Columns {
		name, alternative := alternativeFact(c.Name)
		switch {
		case slices.Contains(tableFacts, c.Name):
		case !alternative:
			return &ArgError{columnsArg, fmt.Errorf("%q is not a property of jobs; these have %s, and cpu_run_time and the "+
				"like for alternatives", c.Name, strings.Join(tableFacts, ", "))}
		case !slices.Contains(t.alternatives, name):
			t.alternatives = append(t.alternatives, name)
		}
		i := find(c.Value)
		if i < 0 {
			return &ArgError{columnsArg, missing(c.Value)}
		}
		t.at[c.Name], t.named[c.Name] = i, c.Value
		mapped := slices.ContainsFunc(t.args.Columns, func(o schema.Setting) bool { return o.Name == FactRunTime })
		if (c.Name == FactStart || c.Name == FactEnd) && !mapped { // only if the user has mapped it
			delete(t.at, FactRunTime)
		}
	}
	if _, ok := t.at[FactArrival]; !ok {
		if names := t.Columns[FactArrival]; len(names) > 0 {
			return missing(names[0])
		}
		return &ArgError{columnsArg, errors.New(`no column has the arrivals: add arrival = "…" to columns`)}
	}
	for _, w := range t.where {
		i := find(w.Name)
		if i < 0 {
			return &ArgError{"where", missing(w.Name)}
		}
		t.whereI = append(t.whereI, i)
	}
	for _, name := range t.named {
		if i := find(name); slices.Contains(columns[i+1:], name) {
			return fmt.Errorf("two columns are called %q: rename one of them", name)
		}
	}
	t.timesI, t.partI, t.tasksI = find(t.Times), find(t.Part), find(t.Tasks)
	if t.Slurm {
		t.clusterI = max(find("Cluster"), find("CLUSTER"))
	}
	if t.Unused != nil {
		said, err := t.Unused(slices.DeleteFunc(columns, func(name string) bool {
			is := func(c schema.Setting) bool { return c.Value == name }
			return slices.ContainsFunc(t.args.Columns, is) || slices.ContainsFunc(t.where,
				func(w schema.Setting) bool { return w.Name == name })
		}))
		if err != nil {
			return err
		}
		if said != "" {
			t.Assumed = append(t.Assumed, said)
		}
	}
	return t.checkAlternatives()
}

// text returns the field of a fact. ok is false if no column has the fact, or the field is empty or means unknown.
func (t *table) text(fields []string, fact string) (text string, ok bool) {
	i, ok := t.at[fact]
	if !ok {
		return "", false
	}
	text = strings.TrimSpace(fields[i])
	switch strings.ToLower(text) {
	case "", "-", "--", "?", "none", "<none>", "null", "(null)", "nan", "nat", "n/a", "unknown", "invalid",
		"not_set", "unlimited",
		"partition_limit":
		return "", false
	}
	if name := trackable[fact]; name != "" && strings.Contains(text, "=") {
		if t.Tracked == nil {
			return listed(text, name)
		}
		text = t.Tracked(text, name)
		return text, text != ""
	}
	if isTime(fact) {
		text = pointed(text)
	}
	return text, true
}

// selected reports whether a field has one of the texts that bars separate. In Slurm's output, its first word is
// also compared: "CANCELLED by 1001".
func (t *table) selected(field, texts string) bool {
	field = strings.TrimSpace(field)
	first, _, _ := strings.Cut(field, " ")
	all := strings.Split(texts, "|")
	return slices.Contains(all, field) || t.Slurm && slices.Contains(all, first)
}

// is reports whether the earlier job i has the times of a row.
func (t *table) is(i int, j *scheduler.Job, run, wait time.Duration) bool {
	return t.Jobs[i].Arrival == j.Arrival && t.RunTimes[i] == run && (wait < 0 || i < len(t.Waits) && t.Waits[i] == wait)
}

// unplaced reports whether a table of Slurm says that a job got no cores: it was canceled while it waited.
func (t *table) unplaced(fields []string) bool {
	text, ok := t.text(fields, FactThreads)
	return ok && text == "0" && t.named[FactThreads] == "AllocCPUS"
}

// add adds the job of a row.
func (t *table) add(line int, fields []string) error {
	t.line = line
	for i, w := range t.where {
		if !t.selected(fields[t.whereI[i]], w.Value) {
			t.Ignored++
			return nil
		}
	}
	if t.clusterI >= 0 {
		cluster := strings.TrimSpace(fields[t.clusterI])
		if t.cluster == "" {
			t.cluster = strings.Clone(cluster)
		} else if cluster != t.cluster {
			return fmt.Errorf("it is of the cluster %s, and a row before of %s, which may use the same numbers for jobs: "+
				"choose one with where = { Cluster = %q }", cluster, t.cluster, t.cluster)
		}
	}
	name, named := t.text(fields, FactJob)
	if t.Ignore != nil && t.Ignore(name) {
		t.Ignored++
		return t.step(name, fields)
	}
	t.count++
	if t.Slurm && strings.Contains(name, "[") {
		t.arrays++
	}
	j := scheduler.Job{Class: t.args.Class, Deadline: scheduler.Never, Priority: -1}
	if class, ok := t.text(fields, FactClass); ok {
		j.Class = t.Share(class)
	}
	switch j.Name = strings.Clone(name); {
	case !named:
		j.Name = fmt.Sprintf("%s-%d", j.Class, t.count)
	case t.Repeats:
		j.Name = fmt.Sprintf("%s-%d", name, t.count)
	}
	if user, ok := t.text(fields, FactUser); ok {
		j.User = t.Share(user)
	}
	run, err := t.timesOf(&j, fields)
	switch {
	case errors.Is(err, errNeverStarted):
		t.never++
		t.Ignored++
		return nil
	case errors.Is(err, errNotEnded):
		t.running++
		t.Ignored++
		if start, err := t.instant(fields, FactStart); err == nil && t.requests(&j, fields) == nil {
			t.Open = append(t.Open, workload.Open{Start: start, Threads: j.Threads, GPUs: j.GPUs})
		}
		return nil
	case err != nil:
		return err
	case run == 0 && t.unplaced(fields):
		t.never++
		t.Ignored++
		return nil
	}
	if err := t.requests(&j, fields); err != nil {
		return err
	}
	used, err := t.used(fields)
	if err != nil {
		return err
	}
	var all []workload.Alternative
	if len(t.alternatives) > 0 {
		if run, all, err = t.alternativesOf(&j, run, fields); err != nil {
			return err
		}
	}
	wait, number := t.waited(&j, fields), j.Name
	if first, again := t.attempts[number]; t.Slurm && again { // the row is there twice, or the number was used again
		rows := append([]int{first}, t.repeated[number]...)
		if slices.ContainsFunc(rows, func(i int) bool { return t.is(i, &j, run, wait) }) {
			t.twice++
			t.Ignored++
			return nil
		}
		t.again++
		j.Name = fmt.Sprintf("%s-%d", number, len(rows)+1)
	}
	if err := t.Add(line, j, run); err != nil {
		return err
	}
	if at := len(t.Jobs) - 1; t.Slurm && number == j.Name {
		t.attempts[number] = at
	} else if t.Slurm {
		t.repeated[number] = append(t.repeated[number], at)
	}
	t.AddAlternatives(all)
	if wait >= 0 {
		t.Waited(wait)
	}
	t.UsedMemory(j.Memory, used)
	return nil
}
