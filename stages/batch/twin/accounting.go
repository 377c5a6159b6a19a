package twin

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/fields"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/batch"
)

// Fields is the argument -o of sacct that prints all columns that the reader uses.
const Fields = "JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,TimelimitRaw,ReqCPUS,ReqNodes,ReqMem," +
	"AllocCPUS,NNodes,ReqTRES,State,Constraints,Reservation"

var _ = formats.Register(&formats.Format{
	Name: "accounting", Rank: 19,
	Holds: formats.RunTimes | formats.RequestedTimes | formats.Memory | formats.GPUs | formats.Users,
	Doc: "The output of Slurm's `sacct -a -X -P -D -o " + Fields + "`, or of `sacct -a -X -D --json`, for policies with " +
		"partitions and accounts. A job has the account, partition, quality of service, time limit and features in " +
		"the file, and the policy divides its cores over nodes. `User`, `Submit`, `Start`, `End` and one of the " +
		"numbers of CPUs are required. A job's class is its partition. Jobs that never started are left out. If a job " +
		"was started several times, its last start counts. With the column `SubmitLine` at the end, jobs whose " +
		"command has `--exclusive` share no nodes. Instants in JSON are in UTC. Slurm before version 23.11 writes the " +
		"time of eligibility as the start in JSON: the start then follows from the end and the run time.",
	Args: []schema.Arg{{
		Name: "cluster", Type: schema.String, DefaultDoc: "the only one of the file.",
		Doc: "The cluster whose jobs are read, if the file has the column `Cluster`. Jobs of other " +
			"clusters are left out.",
		Example: `"alpha"`,
	}, {
		Name: "default_memory", Type: schema.StringMap, DefaultDoc: "none.",
		Doc: "The memory of jobs without memory in the file, by partition: a size `per thread`, `per gpu` or `per " +
			"node`. `*` is any other partition.",
		Example: `{ main = "2GiB per thread", "*" = "4GiB per node" }`,
	}, {
		Name: "default_limit", Type: schema.StringMap, DefaultDoc: "none.",
		Doc:     "The time limit of jobs without a limit in the file, by partition. `*` is any other partition.",
		Example: `{ main = "1h", "*" = "24h" }`,
	}},
	Reader: readAccounting,
})

// entry is a job of the log while its attempts are read.
type entry struct {
	job   scheduler.Job
	start time.Duration // start of the first attempt
	run   time.Duration
	begin time.Duration // when the job became eligible; 0 if not known
	end   time.Duration // end of the last attempt
	again bool          // whether Slurm starts the job again after its last attempt
	line  int
}

// again reports whether Slurm starts a job again after a state.
func again(state string) bool {
	word, _, _ := strings.Cut(state, " ")
	return !slices.Contains([]string{"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "DEADLINE"}, word)
}

// checkState returns an error for a state that is not of Slurm.
func checkState(text string) error {
	word, _, _ := strings.Cut(text, " ") // CANCELLED by 1001
	if word = strings.ToUpper(strings.TrimRight(word, "+")); word == "" || slices.Contains(states, word) {
		return nil
	}
	return fmt.Errorf("%q is no state of a job in Slurm, such as COMPLETED: print the column State without a width", text)
}

// states has the states of jobs, and the flags that Slurm prints in place of a state.
var states = strings.Fields("PENDING RUNNING SUSPENDED COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL PREEMPTED " +
	"BOOT_FAIL DEADLINE OUT_OF_MEMORY REQUEUED RESIZING REVOKED COMPLETING CONFIGURING STAGE_OUT SIGNALING " +
	"SPECIAL_EXIT STOPPED REQUEUE_HOLD REQUEUE_FED RESV_DEL_HOLD " +
	"LAUNCH_FAILED RECONFIG_FAIL POWER_UP_NODE UPDATE_DB EXPEDITING")

// accounting reads the output of sacct.
type accounting struct {
	logs.Builder
	at       map[string]int
	entries  map[string]*entry
	specials map[alike]*scheduler.Special
	list     []*entry
	waited   int // jobs that are left out: they never started, or have not ended
	running  int // jobs that have not ended
	parts    int // parts of heterogeneous jobs
	reused   int // jobs whose number was used again later
	stopped  int // jobs that were suspended
	sharing  int // jobs that asked for nodes without jobs of other users
	mixed    int // jobs that asked for GPUs of several types
	shards   int // jobs that asked for parts of GPUs
	clusters
	defaults map[string]defaultMemory // by partition
	limits   map[string]time.Duration // by partition
	unsized  int                      // jobs that have their default memory
	unbound  int                      // jobs that have their default limit
	order    logs.DayOrder            // order of day and month in dates that end with the year
	compact  logs.CompactDates
	reading  int  // line of the present row
	numbers  bool // whether instants are numbers, and not dates
	// Number of jobs with a constraint that is not understood, and the first such constraint.
	constrained int
	constraint  string
	held        []heldRow // rows with such dates, until a date shows the order
	late        []error   // errors of held rows
}

// heldRow is a row that is read after the order of day and month is known.
type heldRow struct {
	line   int
	fields []string
}

// clusters keeps the rows of different clusters separate.
type clusters struct {
	own    string // cluster whose jobs are read; empty for all
	first  string // first cluster of the file
	second string // a second cluster; empty if there is none
	line   int    // line of the second cluster
	others int    // number of rows of other clusters
}

// take reports whether a row of a cluster is read.
func (c *clusters) take(cluster string, line int) bool {
	switch {
	case cluster == "":
	case c.own != "" && !strings.EqualFold(cluster, c.own):
		c.others++
		if c.second == "" {
			c.second = strings.Clone(cluster)
		}
		return false
	case c.first == "":
		c.first = strings.Clone(cluster)
	case c.own == "" && c.second == "" && cluster != c.first:
		c.second, c.line = strings.Clone(cluster), line
	}
	return true
}

func readAccounting(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
	a := &accounting{at: map[string]int{}, entries: map[string]*entry{}, specials: map[alike]*scheduler.Special{}}
	a.own = formats.Option(o, "cluster", "")
	var err error
	if a.defaults, err = parseDefaults(formats.Option[[]schema.Setting](o, "default_memory", nil)); err != nil {
		return workload.Trace{}, err
	}
	if a.limits, err = parseLimits(formats.Option[[]schema.Setting](o, "default_limit", nil)); err != nil {
		return workload.Trace{}, err
	}
	skipped, err := textfile.Table{Separator: '|', Each: slurm.EachJob}.EachRow(file, r, o.Lenient, a.head,
		func(line int, fields []string) error {
			if a.hold(line, fields) {
				return nil
			}
			for _, h := range a.held {
				if err := a.row(h.line, h.fields); err != nil {
					a.late = append(a.late, &textfile.LineError{File: file, Line: h.line, Err: err})
				}
			}
			a.held = nil
			return a.row(line, fields)
		})
	switch {
	case err == nil && len(a.held) > 0:
		err = &textfile.LineError{File: file, Line: a.held[0].line, Err: errors.New("its dates may begin with the " +
			"day or the month, and no date of the file shows which: print the log with SLURM_TIME_FORMAT=standard")}
	case err == nil && len(a.late) > 0 && !o.Lenient:
		err = errors.Join(a.late[:min(len(a.late), textfile.MaxErrors)]...)
	case err == nil && a.line > 0:
		err = &textfile.LineError{File: file, Line: a.line, Err: fmt.Errorf("it is of the cluster %s, and a row "+
			"before of %s, which may use the same numbers for jobs: choose one with cluster = %q, or print one with  "+
			"sacct -M %s", a.second, a.first,
			a.first, a.first)}
	case err == nil && len(a.list) == 0 && a.others > 0:
		err = fmt.Errorf("%s: no job of the cluster %s has started, and the file has jobs of the cluster %s: print "+
			"it with  sacct -M %s",
			file, a.own, a.second, a.own)
	}
	if err == nil {
		err = a.compact.Err(file, "print the log with SLURM_TIME_FORMAT=standard")
	}
	if err == nil && len(a.list) == 0 {
		err = fmt.Errorf("%s: none of its jobs has started: print a longer time with  sacct -S and -E", file)
	}
	if err != nil {
		return workload.Trace{}, err
	}
	first := scheduler.Never
	for _, e := range a.list {
		first = min(first, e.job.Arrival)
	}
	slices.SortStableFunc(a.list, func(x, y *entry) int {
		return cmp.Or(cmp.Compare(x.job.Arrival, y.job.Arrival), cmp.Compare(x.line, y.line))
	})
	a.entries = nil
	for i, e := range a.list {
		a.list[i] = nil // frees the memory of the entry
		e.job.Arrival -= first
		if e.begin > 0 && e.begin-first > e.job.Arrival {
			own := *e.job.Submission()
			own.Begin = e.begin - first
			e.job.Special = a.special(&own)
		}
		if err := a.Add(e.line, e.job, e.run); err != nil {
			return workload.Trace{}, &textfile.LineError{File: file, Line: e.line, Err: err}
		}
		a.Waited(e.start - first - e.job.Arrival)
	}
	a.Ignored, a.Origin = a.waited+a.others, first
	a.assume()
	return a.Finish(append(a.late, skipped...)), nil
}

// hold keeps a row for later until the order of day and month in dates is known, and reports whether it did.
func (a *accounting) hold(line int, fields []string) bool {
	held := len(a.held) > 0
	for _, column := range []string{"Submit", "Start", "End", "Eligible"} {
		order, ok := logs.OrderOf(a.text(fields, column))
		if a.order == logs.NoOrder {
			a.order, held = order, held || ok
		}
	}
	if held = held && a.order == logs.NoOrder; held {
		a.held = append(a.held, heldRow{line, schema.Each(fields, strings.Clone)})
	}
	return held
}

// special returns the submission of a job. Jobs with equal submissions share it.
func (a *accounting) special(s *scheduler.Submission) *scheduler.Special {
	key := alike{s.Account, s.Partition, s.QOS, s.Reservation, s.Array, strings.Join(s.Features, "&"), s.Limit, s.Begin,
		s.MinNodes, s.MaxNodes, s.Exclusive}
	if a.specials[key] == nil {
		own := *s
		a.specials[key] = &scheduler.Special{Submission: &own}
	}
	return a.specials[key]
}

// alike is a comparable form of a submission.
type alike struct {
	account, partition, qos, reservation, array, features string
	limit, begin                                          time.Duration
	minNodes, maxNodes                                    int
	exclusive                                             bool
}

// elapsed returns how long a job ran: as Slurm counted it, because a clock may have been changed; or else from its
// start to its end.
func (a *accounting) elapsed(fields []string, run time.Duration) (time.Duration, error) {
	for _, column := range []string{"ElapsedRaw", "Elapsed"} {
		if text := a.text(fields, column); text != "" {
			d, err := logs.ParseSpan(text, time.Second)
			if err != nil || d < 0 {
				return 0, fmt.Errorf("%s %q is not a time", column, text)
			}
			return d, nil
		}
	}
	if run < 0 {
		return 0, errors.New("it ends before it starts: a clock was set back. Print the column ElapsedRaw as well, " +
			"or instants with SLURM_TIME_FORMAT=%s")
	}
	return run, nil
}

// head finds the columns.
func (a *accounting) head(columns []string) error {
	columns = schema.Each(columns, strings.TrimSpace)
	for i, name := range columns {
		if _, there := a.at[name]; there && name != "" {
			return fmt.Errorf("the column %q is there twice: print it once", name)
		}
		a.at[name] = i
	}
	if raw, ok := a.at["JobIDRaw"]; ok { // array tasks have separate numbers there
		if _, named := a.at["JobID"]; !named {
			a.at["JobID"] = raw
		}
	}
	for _, need := range []string{"JobID", "User", "Submit", "Start", "End"} {
		if _, ok := a.at[need]; !ok {
			return fmt.Errorf("there is no column %q: print the log with  sacct -a -X -P -D -o %s", need, Fields)
		}
	}
	said, err := fields.Of("sacct").Unused("accounting", columns)
	if err != nil {
		return err
	}
	if said != "" {
		a.Assumed = append(a.Assumed, said)
	}
	for _, name := range []string{"ReqCPUS", "AllocCPUS", "NCPUS", "ReqTRES", "AllocTRES"} {
		if _, ok := a.at[name]; ok {
			return nil
		}
	}
	return errors.New(`there is neither a column "AllocCPUS" nor one "ReqCPUS"`)
}

// cores reads how many cores a job had, or asked for.
func (a *accounting) cores(fields []string) (int, error) {
	n, err := a.number(fields, "AllocCPUS", "NCPUS", "ReqCPUS")
	for _, column := range []string{"AllocTRES", "ReqTRES"} {
		if value := slurm.Tracked(a.text(fields, column), "cpu"); value != "" && n == 0 && err == nil {
			if n, err = slurm.ParseCount(value); err != nil || n > workload.MaxThreads {
				err = fmt.Errorf("%s: %q is not a number of CPUs", column, value)
			}
		}
	}
	return n, err
}

// text returns a field; empty if Slurm has no value for it.
func (a *accounting) text(fields []string, column string) string {
	i, ok := a.at[column]
	if !ok || i >= len(fields) {
		return ""
	}
	switch s := strings.TrimSpace(fields[i]); s {
	case "Unknown", "None", "N/A", "(null)", "Partition_Limit", "UNLIMITED", "INVALID", "?":
		return ""
	default:
		return s
	}
}

// unlimited reports whether a job asked for no time limit.
func (a *accounting) unlimited(fields []string) bool {
	return slices.ContainsFunc([]string{"TimelimitRaw", "Timelimit"}, func(column string) bool {
		i, ok := a.at[column]
		return ok && i < len(fields) && strings.EqualFold(strings.TrimSpace(fields[i]), "UNLIMITED")
	})
}

func (a *accounting) instant(fields []string, column string) (time.Duration, error) {
	text := a.text(fields, column)
	if text == "" {
		return 0, fmt.Errorf("it has no %s", column)
	}
	a.compact.Add(text, a.reading, true)
	at, err := logs.ParseInstant(a.order.In(text), time.Second)
	a.numbers = a.numbers || !logs.IsDate(text)
	if err == nil && strings.Contains(text, ".") && !logs.IsDate(text) {
		err = fmt.Errorf("%q is neither a whole number of seconds nor a date", text)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w (print the log with SLURM_TIME_FORMAT=standard)", column, err)
	}
	return at, nil
}

func (a *accounting) number(fields []string, columns ...string) (int, error) {
	for _, c := range columns {
		if text := a.text(fields, c); text != "" && text != "0" {
			text, _, _ = strings.Cut(text, "-")
			n, err := slurm.ParseCount(text)
			if err != nil || n > workload.MaxThreads {
				return 0, fmt.Errorf("%s %q is not a number from 0", c, text)
			}
			return n, nil
		}
	}
	return 0, nil
}

// unplaced reports whether the file says that a job got no cores.
func (a *accounting) unplaced(fields []string) bool {
	for _, column := range []string{"AllocCPUS", "NCPUS", "AllocTRES"} {
		if i, ok := a.at[column]; ok && i < len(fields) {
			text := strings.TrimSpace(fields[i])
			return text == "0" || text == "" && column == "AllocTRES"
		}
	}
	return false
}

// row reads a row: one attempt of a job.
func (a *accounting) row(line int, fields []string) error {
	a.reading = line
	id := a.text(fields, "JobID")
	if id == "" || strings.Contains(id, ".") || !a.take(a.text(fields, "Cluster"), line) {
		a.Ignored++
		return nil
	}
	submit, err := a.instant(fields, "Submit")
	if err != nil {
		return err
	}
	state := a.text(fields, "State")
	if err := checkState(state); err != nil {
		return err
	}
	if a.text(fields, "Start") == "" || a.text(fields, "End") == "" {
		if a.text(fields, "Start") != "" && !strings.HasPrefix(state, "PENDING") {
			a.running++
		}
		a.waited++
		return nil
	}
	start, err := a.instant(fields, "Start")
	if err != nil {
		return err
	}
	end, err := a.instant(fields, "End")
	if err != nil {
		return err
	}
	run, err := a.elapsed(fields, end-start)
	if err != nil {
		return err
	}
	if run == 0 && a.unplaced(fields) { // canceled while it waited: Start is the time of the cancellation
		a.waited++
		return nil
	}
	user := a.text(fields, "User")
	if e := a.entries[id]; e != nil && e.job.User == user && (e.again || submit <= e.end) { // another attempt of the same job
		e.run, e.end, e.again = run, end, again(state)
		return nil
	} else if e != nil { // Slurm used the number of an ended job again
		a.reused++
		e.job.Name = fmt.Sprintf("%s-before-%d", e.job.Name, line)
	}
	if d, err := logs.ParseSpan(a.text(fields, "Suspended"), time.Second); err == nil && d > 0 {
		a.stopped++
	}
	e := &entry{start: start, run: run, line: line, end: end, again: state == "" || again(state)}
	j := &e.job
	j.Name, j.User, j.Class = strings.Clone(id), a.Share(a.text(fields, "User")), a.Share(a.text(fields, "Partition"))
	if j.Class == "" {
		j.Class = "job"
	}
	j.Arrival, j.Deadline, j.Priority = submit, scheduler.Never, -1
	if j.Threads, err = a.cores(fields); err != nil {
		return err
	}
	if j.Threads == 0 {
		return errors.New("it has no CPUs")
	}
	s := &scheduler.Submission{}
	s.Account, s.Partition = a.Share(a.text(fields, "Account")), a.Share(a.text(fields, "Partition"))
	s.QOS, s.Reservation = a.Share(a.text(fields, "QOS")), a.Share(a.text(fields, "Reservation"))
	if s.MinNodes, err = a.number(fields, "ReqNodes"); err != nil {
		return err
	}
	_, most, bounded := strings.Cut(a.text(fields, "ReqNodes"), "-")
	if bounded { // the form "1-4", which squeue prints
		s.MaxNodes, _ = slurm.ParseCount(most)
	}
	if s.MinNodes <= 1 {
		s.MinNodes = 0
	} else if n, _ := a.number(fields, "NNodes"); n == s.MinNodes {
		s.MaxNodes = n // sacct does not show whether the job could have more nodes
	}
	if a.unlimited(fields) {
		s.Limit = batch.NoLimit
	} else if text := a.text(fields, "TimelimitRaw"); text != "" {
		minutes, err := strconv.Atoi(text)
		if err != nil || minutes < 0 {
			return fmt.Errorf("TimelimitRaw %q is not a number of minutes", text)
		}
		s.Limit = time.Duration(minutes) * time.Minute
	} else if text := a.text(fields, "Timelimit"); text != "" {
		if s.Limit, err = logs.ParseSpan(text, time.Minute); err != nil {
			return fmt.Errorf("the column Timelimit: %w", err)
		}
	}
	if s.Limit == 0 {
		limit, ok := a.limits[s.Partition]
		if !ok {
			limit = a.limits["*"]
		}
		if s.Limit = limit; limit > 0 {
			a.unbound++
		}
	}
	j.Predicted = s.Limit
	if text := a.text(fields, "Constraints"); text != "" {
		all, ok := slurm.Features(text)
		if !ok {
			a.constrained, a.constraint = a.constrained+1, cmp.Or(a.constraint, strings.Clone(text))
		}
		for _, f := range all {
			s.Features = append(s.Features, a.Share(f))
		}
	}
	gpu, err := a.resources(j, fields)
	if err != nil {
		return err
	}
	if gpu != "" {
		s.Features = append(s.Features, a.Share(batch.GPUFeature+gpu))
	}
	if text := a.text(fields, "Eligible"); text != "" {
		if e.begin, err = a.instant(fields, "Eligible"); err != nil {
			return err
		}
	}
	if strings.Contains(id, "+") {
		a.parts++
	}
	if array, _, some := strings.Cut(id, "_"); some {
		s.Array = a.Share(array)
	}
	exclusive, shared := slurm.AsksExclusive(a.text(fields, "SubmitLine"))
	if s.Exclusive = exclusive; shared != "" {
		a.sharing++
	}
	j.Special = a.special(s)
	a.entries[id] = e
	a.list = append(a.list, e)
	return nil
}

// resources reads the GPUs and the memory of a job, which node settings may not count, and returns the type of GPU that it
// asked for; empty for any. ReqTRES has the request, and AllocTRES the allocation.
func (a *accounting) resources(j *scheduler.Job, fields []string) (gpu string, err error) {
	var types []string
	for _, column := range []string{"ReqTRES", "AllocTRES", "ReqGRES", "AllocGRES"} {
		text := a.text(fields, column)
		list, err := slurm.ParseGres(text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", column, err)
		}
		if column == "ReqGRES" { // versions before 21 print the number for each node
			nodes, err := a.number(fields, "NNodes", "ReqNodes")
			if err != nil {
				return "", err
			}
			for i := range list {
				list[i].Count *= max(nodes, 1)
			}
		}
		for _, g := range list {
			if (g.Name == "shard" || g.Name == "mps") && column == "ReqTRES" && g.Count > 0 {
				a.shards++
			}
		}
		if n, of := slurm.AskedGPUs(list); j.GPUs == 0 {
			j.GPUs = n
			if column == "ReqTRES" || column == "ReqGRES" {
				types = of
			}
		}
		if value := slurm.Tracked(text, "mem"); value != "" { // more is allocated than requested if the job got more cores
			bytes, _, err := slurm.ParseReqMem(value, 1<<20)
			if err != nil {
				return "", fmt.Errorf("%s: %w", column, err)
			}
			j.Memory = max(j.Memory, bytes)
		}
	}
	if j.GPUs > workload.MaxThreads {
		return "", fmt.Errorf("%d is no number of GPUs", j.GPUs)
	}
	if text := a.text(fields, "ReqMem"); text != "" && j.Memory == 0 {
		bytes, each, err := slurm.ParseReqMem(text, 1<<20)
		if err != nil {
			return "", fmt.Errorf("ReqMem: %w", err)
		}
		switch each {
		case 'c':
			bytes *= int64(j.Threads)
		case 'n':
			nodes, err := a.number(fields, "NNodes", "ReqNodes")
			if err != nil {
				return "", err
			}
			bytes *= int64(max(nodes, 1))
		}
		j.Memory = bytes
	}
	if j.Memory == 0 && a.text(fields, "ReqMem") == "" {
		if j.Memory, err = a.usual(j, fields); err != nil {
			return "", err
		}
	}
	j.Memory -= j.Memory % int64(cluster.Units(j.Threads, j.GPUs)) // each core or GPU of the job gets the same amount
	if len(types) == 1 {
		return types[0], nil
	}
	if len(types) > 1 {
		a.mixed++
	}
	return "", nil
}
