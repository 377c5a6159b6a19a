package start

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mitchellh/go-wordwrap"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// JobLog describes the log of a cluster.
type JobLog struct {
	// File is the path of the log, as the experiment names it. Format is the format of the trace block. Given reports
	// whether the block must name the format, because the file's name does not show it.
	File   string
	Format *formats.Format
	Given  bool
	// Arguments of a table; zero for the default. Unread lists the columns that no property of a job was found for.
	Separator           string
	MemoryUnit          string
	Columns             []schema.Setting
	Unit, RequestedUnit time.Duration
	// Exceeded reports that RequestedUnit was chosen because most jobs would have run longer than this number of
	// seconds.
	Exceeded bool
	// UnitFrom is a column whose name contains Unit. Unitless are the columns of times whose names contain no unit.
	UnitFrom string
	Unitless []string
	// Scaled is the column whose instants have too many digits for seconds. It is empty if there is no such column.
	Scaled string
	Unread []string

	// PerNode is the number of GPUs of a node, by which jobs with more GPUs are divided over nodes; 0 if the log has
	// the number of nodes.
	PerNode int

	// Left says how many jobs were left out, and why. Greatest is the greatest use of resources at any time, where the
	// log has starts.
	Left     string
	Greatest Use

	// Jobs is the number of jobs, and Days the length of the log. Malformed describes the malformed lines.
	Jobs      int
	Days      float64
	Malformed string
	users     bool // whether the jobs have different users
	// Requested reports whether jobs have requested times.
	Requested bool
	// Cluster is a cluster that is large enough for the jobs. Said reports whether the log contains the cluster's size.
	Cluster Cluster
	Said    bool
	// Least is the number of cores, or of nodes, that the widest job needs.
	Least int
	// Unbelieved is the cluster's number of cores by the log, where it cannot be right; otherwise 0.
	Unbelieved int
}

// Cluster is the size of a cluster: nodes of GPUs, or cores alone where no job asks for a GPU.
type Cluster struct {
	Cores                int // of a cluster without GPUs
	Nodes, Threads, GPUs int // nodes, and the threads and GPUs of each
}

// Use counts the resources that jobs use at the same time.
type Use struct{ Cores, GPUs int }

// endings are the extensions of log files.
var endings = []string{".csv", ".tsv", ".txt", ".log", ".swf", ".json", ".trace", ".requests", ".req", ".psv"}

// aimedLoad is the load that the experiment's cluster has if the log does not show the size of the real cluster.
const aimedLoad = 0.8

// mostHead is the size of a file's beginning that is searched for the line with its columns, in bytes.
const mostHead = 64 << 10

// heading returns the line with the column names of a table: the first line with an arrival and another known column,
// or else the first line.
func heading(lines []string) string {
	first := strings.TrimRight(lines[0], "\r")
	for _, line := range lines {
		var l JobLog
		l.guess(strings.TrimRight(line, "\r"))
		if !strings.HasPrefix(first, ";") && len(l.Columns) > 1 && l.Columns[0].Name == "arrival" {
			return strings.TrimRight(line, "\r")
		}
	}
	return first
}

// InspectLog finds out how to replay a log. The experiment calls the file shown. The error is the reason that the log
// cannot be replayed.
func InspectLog(path, shown string) (JobLog, error) {
	l := JobLog{File: filepath.ToSlash(shown)}
	path, err := filepath.Abs(path)
	if err != nil {
		return l, err
	}
	file := language.Input{Path: path, Shown: shown}
	var head []byte
	if _, err := datafile.ReadFile(file, func(text io.Reader) (err error) {
		head, err = io.ReadAll(io.LimitReader(textfile.Unmarked(text), mostHead))
		return err
	}); err != nil {
		return l, fmt.Errorf("read %s: %w", shown, err)
	}
	if bytes.ContainsRune(head, '\r') && !bytes.ContainsRune(head, '\n') {
		return l, errors.New("its lines end with a carriage return alone: save it with line feeds")
	}
	lines := strings.Split(string(head), "\n")
	named := heading(lines)
	l.choose(named)
	if sacctJSON.Match(head) {
		l.Format, l.Given, l.Separator, l.Columns = formats.Find("sacct"), true, "", nil
	}
	if i := slices.IndexFunc(lines, func(line string) bool { return strings.TrimRight(line, "\r") == named }); i+1 < len(lines) {
		l.scale(named, strings.TrimRight(lines[i+1], "\r"))
	}
	args := map[string]any{"columns": l.Columns}
	if l.Separator != "" {
		args["separator"] = l.Separator
	}
	if l.Unit > 0 {
		args[formats.UnitArg.Name] = l.Unit
	}
	if l.RequestedUnit > 0 {
		args["requested_unit"] = l.RequestedUnit
	}
	if bytes, err := schema.ParseSize(l.MemoryUnit); err == nil {
		args["memory_unit"] = bytes
	}
	read := func() (trace workload.Trace, err error) {
		_, err = datafile.ReadFile(file, func(text io.Reader) (err error) {
			trace, err = l.Format.Read(shown, text, formats.Options{Lenient: true, Args: args})
			return err
		})
		return trace, err
	}
	trace, err := read()
	if err != nil {
		return l, err
	}
	if exceeded(&trace) > 0.5 {
		if unit := l.requestUnit(&trace); unit > 0 {
			l.RequestedUnit, l.Exceeded = unit, true
			args["requested_unit"] = unit
			if trace, err = read(); err != nil {
				return l, err
			}
		}
	}
	return l, l.measure(&trace)
}

// requestUnit returns the unit, a minute or an hour, by which at most 5% of the jobs of a table ran longer than their
// requested times. It returns 0 if the column has a unit already, or if no unit fits.
func (l *JobLog) requestUnit(t *workload.Trace) time.Duration {
	named := slices.ContainsFunc(l.Columns, func(c schema.Setting) bool { return c.Name == formats.FactRequested })
	if !named || l.RequestedUnit > 0 {
		return 0
	}
	for _, unit := range []time.Duration{time.Minute, time.Hour} {
		larger := workload.Trace{Jobs: slices.Clone(t.Jobs), RunTimes: t.RunTimes}
		for i := range larger.Jobs {
			limit := float64(larger.Jobs[i].Predicted) * float64(unit) / float64(cmp.Or(l.Unit, time.Second))
			larger.Jobs[i].Predicted = time.Duration(min(limit, 1<<62))
		}
		if exceeded(&larger) < 0.05 {
			return unit
		}
	}
	return 0
}

// exceeded returns the fraction of the jobs with requested times that ran more than 1.5 times as long.
func exceeded(t *workload.Trace) float64 {
	all, longer := 0, 0
	for i := range t.Jobs {
		if limit := t.Jobs[i].Predicted; limit > 0 && t.Timed(i) && t.RunTimes[i] > 0 {
			if all++; float64(t.RunTimes[i]) > 1.5*float64(limit) {
				longer++
			}
		}
	}
	return float64(longer) / float64(max(all, 1))
}

// choose finds the format, by the name of the file and its first line.
func (l *JobLog) choose(head string) {
	l.Format = formats.Of(l.File)
	switch begun := formats.Beginning(head); {
	case begun != nil && begun != l.Format:
		l.Format, l.Given = begun, true
	case l.Format == nil || l.Format.Name == "csv" && !strings.HasPrefix(head, "job,class,arrival_s,threads"):
		l.Format, l.Given = formats.Find("table"), true
		l.guess(head)
	}
}

// measure finds out how large a cluster the jobs need.
func (l *JobLog) measure(t *workload.Trace) error {
	l.Jobs = len(t.Jobs)
	if len(t.Skipped) > 0 {
		l.Malformed = datafile.Malformed(t.Skipped)
	}
	if l.Jobs == 0 {
		return fmt.Errorf("there is no job in %s: %s", l.File,
			cmp.Or(l.Malformed, "no row is behind the names of its columns"))
	}
	i := slices.IndexFunc(t.Assumed, func(s string) bool { return strings.HasSuffix(s, "are left out") })
	if i >= 0 {
		l.Left = t.Assumed[i]
	}
	var coreSeconds, gpuSeconds float64
	divided := false
	first, last := time.Duration(math.MaxInt64), time.Duration(0)
	c, broadest, most := &l.Cluster, 1, 1
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if !t.Timed(i) {
			return fmt.Errorf("%s does not say how long job %q ran: a replay needs run times", l.File, j.Name)
		}
		run := t.RunTimes[i].Seconds()
		coreSeconds += run * float64(j.Threads)
		gpuSeconds += run * float64(j.GPUs)
		parts := max(j.Nodes, 1)
		divided = divided || j.Nodes > 1
		broadest, most = max(broadest, parts), max(most, j.Threads)
		c.Threads, c.GPUs = max(c.Threads, j.Threads/parts), max(c.GPUs, j.GPUs/parts)
		first, last = min(first, j.Arrival), max(last, j.Arrival+t.RunTimes[i])
		l.users = l.users || j.User != t.Jobs[0].User
		l.Requested = l.Requested || j.Predicted > 0 && j.Predicted != t.RunTimes[i]
	}
	l.Greatest = greatest(t)
	if c.GPUs > usualGPUs && !divided { // a job of 64 GPUs runs on several nodes
		c.GPUs, l.PerNode = usualGPUs, usualGPUs
		for i := range t.Jobs {
			j := &t.Jobs[i]
			if j.GPUs > usualGPUs {
				broadest = max(broadest, (j.GPUs+usualGPUs-1)/usualGPUs)
			}
		}
		c.Threads = max(1, ceil(float64(most)/float64(broadest)))
		for i := range t.Jobs {
			if j := &t.Jobs[i]; j.GPUs <= usualGPUs {
				c.Threads = max(c.Threads, j.Threads)
			}
		}
	}
	l.Least = broadest
	span := max((last-first).Seconds(), 1) * aimedLoad
	l.Days = (last - first).Hours() / 24
	if c.GPUs == 0 && broadest == 1 {
		c.Threads = 0
		l.Least = most
		switch {
		case t.Processors >= most && wider(t.Processors) <= schema.MaxThreads:
			c.Cores, l.Said = t.Processors, true
		case t.Processors > 0:
			l.Unbelieved = t.Processors
			fallthrough
		default:
			c.Cores = max(l.Greatest.Cores, most)
			if l.Greatest.Cores == 0 {
				c.Cores = max(ceil(coreSeconds/span), most)
			}
		}
	} else {
		use := l.Greatest
		if use.Cores == 0 {
			use = Use{ceil(coreSeconds / span), ceil(gpuSeconds / span)}
		}
		c.Nodes = max(broadest, ceil(float64(use.Cores)/float64(max(c.Threads, 1))))
		if c.GPUs > 0 { // cores enough for the jobs of all GPUs
			c.Nodes = max(broadest, ceil(float64(use.GPUs)/float64(c.GPUs)))
			c.Threads = max(c.Threads, ceil(float64(use.Cores)/float64(c.Nodes)))
		}
	}
	if wider(c.Cores) > schema.MaxThreads || wider(c.Nodes) > schema.MaxNodes || c.Threads > schema.MaxThreads ||
		wider(c.Nodes) > 1<<30/max(c.Threads, 1) {
		return fmt.Errorf("its jobs need a cluster of %d cores, or %d nodes with %d cores each: a cluster can have %d "+
			"cores and %d nodes", c.Cores, c.Nodes, c.Threads, schema.MaxThreads, schema.MaxNodes)
	}
	return nil
}

// usualGPUs is the number of GPUs of a node where the log does not contain the number of nodes of its larger jobs.
const usualGPUs = 8

// greatest is the greatest use of cores and of GPUs at any time; zero where the log does not have the starts of most
// jobs.
func greatest(t *workload.Trace) (most Use) {
	type change struct {
		at          time.Duration
		cores, gpus int
	}
	var changes []change
	for i := range t.Waits {
		if t.Waits[i] < 0 || !t.Timed(i) {
			continue
		}
		j := &t.Jobs[i]
		start := j.Arrival + t.Waits[i]
		changes = append(changes, change{start, j.Threads, j.GPUs}, change{start + t.RunTimes[i], -j.Threads, -j.GPUs})
	}
	if len(changes) < len(t.Jobs) {
		return Use{}
	}
	for _, j := range t.Open {
		changes = append(changes, change{j.Start, j.Threads, j.GPUs})
	}
	slices.SortFunc(changes, func(a, b change) int { // ends come first: they make room for starts
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.cores, b.cores))
	})
	var now Use
	for _, c := range changes {
		now.Cores, now.GPUs = now.Cores+c.cores, now.GPUs+c.gpus
		most = Use{max(most.Cores, now.Cores), max(most.GPUs, now.GPUs)}
	}
	return most
}

// ceil rounds up; the bound is larger than any cluster.
func ceil(x float64) int { return int(math.Ceil(min(x, 1<<40))) }

// wider returns the largest size of a cluster that the experiment compares: 1.5 times the given size.
func wider(size int) int { return grown(size, larger[len(larger)-1]) }

// larger are the fractions by which the larger clusters exceed the present one.
var larger = []float64{0.1, 0.2, 0.5}

// grown returns a size that is larger by a fraction, and by at least one.
func grown(size int, by float64) int {
	return max(int(math.Round((1+by)*float64(min(size, 1<<40)))), min(size, 1<<40)+1)
}

// sizes returns the sizes to compare: the given size and larger ones. added describes how much larger each is, as "4
// (10%)".
func sizes(size int) (list []int, added []string) {
	list = []int{size}
	for _, by := range larger {
		if more := grown(size, by); !slices.Contains(list, more) {
			list = append(list, more)
			added = append(added, fmt.Sprintf("%d (%.0f%%)", more-size, 100*(float64(more)/float64(size)-1)))
		}
	}
	return list, added
}

// sizeColumns are the properties of which one must be known, so that jobs differ in their cores.
var sizeColumns = []string{"threads", "gpus", "nodes"}

// OpenQuestions returns the facts that could not be found out, in sentences.
func (l *JobLog) OpenQuestions() []string {
	var out []string
	if len(l.Columns) > 0 {
		read := schema.Each(l.Columns, func(c schema.Setting) string { return c.Name + " from " + c.Value })
		text := "Taken by their names: " + strings.Join(read, ", ") + "."
		if len(l.Unread) > 0 {
			text += " Not used: " + strings.Join(l.Unread, ", ") + "."
		}
		if !slices.ContainsFunc(l.Columns, func(c schema.Setting) bool { return slices.Contains(sizeColumns, c.Name) }) {
			text += " No column has the cores of jobs: each gets one."
		}
		out = append(out, text)
	}
	if l.Scaled != "" {
		out = append(out, fmt.Sprintf("The numbers of %s have too many digits for seconds since 1970: all times that are "+
			"numbers are taken as multiples of %s, run times as well.", l.Scaled, unitText(l.Unit)))
	}
	if l.Unit > 0 && l.Scaled == "" && len(l.Unitless) > 0 {
		out = append(out, fmt.Sprintf("The name %s contains the unit %s. It counts for all times that are numbers, also for %s.", l.UnitFrom,
			unitText(l.Unit), strings.Join(l.Unitless, ", ")))
	}
	if l.Exceeded {
		i := slices.IndexFunc(l.Columns, func(c schema.Setting) bool { return c.Name == formats.FactRequested })
		out = append(out, fmt.Sprintf("%s is taken as multiples of %s: most jobs would have run much longer than so many "+
			"seconds. For another unit, change requested_unit.", l.Columns[i].Value, unitText(l.RequestedUnit)))
	}
	if l.Malformed != "" {
		out = append(out, strings.ToUpper(l.Malformed[:1])+l.Malformed[1:]+
			". Run it with --lenient, which leaves them out.")
	}
	if l.Left != "" {
		out = append(out, strings.ToUpper(l.Left[:1])+l.Left[1:]+".")
	}
	if l.PerNode > 0 {
		out = append(out, fmt.Sprintf("The log does not say over how many nodes jobs were spread: nodes of %d GPUs are "+
			"assumed.", l.PerNode))
	}
	if l.Unbelieved > 0 {
		out = append(out, fmt.Sprintf("The log says that the cluster had %d cores. That cannot be: a job asks for more, "+
			"or no cluster has so many.", l.Unbelieved))
	}
	switch {
	case l.Said:
	case l.Greatest.Cores > 0:
		use := fmt.Sprintf("%d cores", l.Greatest.Cores)
		if l.Greatest.GPUs > 0 {
			use += fmt.Sprintf(" and %d GPUs", l.Greatest.GPUs)
		}
		out = append(out, fmt.Sprintf("The log does not say how large the cluster was: this one is as large as the "+
			"greatest use at any time, %s. Write the true size in its place.", use))
	default:
		out = append(out, fmt.Sprintf("The log does not say how large the cluster was: this one would be busy for %.0f%% "+
			"of the time. Write the true size in its place.", 100*aimedLoad))
	}
	if !l.Requested {
		out = append(out, "No column has the times that users asked for: easy decides by the true run times, which is the "+
			"most that it can bring.")
	}
	return out
}

// Experiment returns the source of an experiment with a name. It errs if no experiment can contain the path of the log.
func (l *JobLog) Experiment(name string) ([]byte, error) {
	if !printable(l.File) {
		return nil, fmt.Errorf("the name %q has a character that an experiment cannot hold: rename the log", l.File)
	}
	var b bytes.Buffer
	unit, size := "cores", l.Cluster.Cores
	if size == 0 {
		unit, size = "nodes", l.Cluster.Nodes
	}
	all, added := sizes(size)
	written := make([]string, len(all))
	for i, n := range all {
		written[i] = strconv.Itoa(n)
	}
	estimates := "oracle"
	if l.Requested {
		estimates = "requested"
	}
	from := max(l.Least, size/2)
	err := forms.ExecuteTemplate(&b, "log.hcl.tmpl", map[string]any{
		"Log": l, "Name": name, "Arguments": l.arguments(), "Unit": unit, "Size": size,
		"Sizes": strings.Join(written, ", "), "Added": table.Listed(added), "Pauses": l.Jobs <= mostPaused,
		"Users": l.users,
		"From":  from, "To": 2*size + 1, "Step": (2*size-from)/mostTried + 1,
		"Estimates": estimates, "Long": l.Days >= 5,
		"Span": table.WithUnit(l.Days*86400, "s"), "OpenQuestions": wrapped(l.OpenQuestions()),
	})
	return b.Bytes(), err
}

// wrapped divides texts into lines of comments.
func wrapped(texts []string) (out [][]string) {
	for _, text := range texts {
		text = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return '?'
			}
			return r
		}, text)
		out = append(out, strings.Split(wordwrap.WrapString(text, widest), "\n"))
	}
	return out
}

// mostTried bounds the number of sizes that the proposed bisection can try.
const mostTried = 64

// mostPaused is the number of jobs up to which a policy that pauses jobs is compared. With more jobs, its decisions
// take too long.
const mostPaused = 20_000

// unitText is a unit as the language has it.
func unitText(unit time.Duration) string { return strings.ReplaceAll(unit.String(), "µ", "u") }

// widest is the length of the lines of comments, in characters.
const widest = 110

// arguments are the lines of the trace block.
func (l *JobLog) arguments() []string {
	rows := [][2]string{{"file", eval.Literal(l.File)}}
	if l.Given {
		rows = append(rows, [2]string{"format", eval.Literal(l.Format.Name)})
	}
	if l.Separator != "" {
		rows = append(rows, [2]string{"separator", eval.Literal(l.Separator)})
	}
	if l.PerNode > 0 {
		rows = append(rows, [2]string{"gpus_per_node", strconv.Itoa(l.PerNode)})
	}
	if l.Unit > 0 {
		rows = append(rows, [2]string{"unit", eval.Literal(unitText(l.Unit))})
	}
	if l.RequestedUnit > 0 {
		rows = append(rows, [2]string{"requested_unit", eval.Literal(l.RequestedUnit.String())})
	}
	if l.MemoryUnit != "" {
		rows = append(rows, [2]string{"memory_unit", eval.Literal(l.MemoryUnit)})
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	lines := schema.Each(rows, func(r [2]string) string { return fmt.Sprintf("%-*s = %s", width, r[0], r[1]) })
	if len(l.Columns) == 0 {
		return lines
	}
	width = 0
	for _, c := range l.Columns {
		width = max(width, len(c.Name))
	}
	lines = append(lines, "columns = {")
	for _, c := range l.Columns {
		lines = append(lines, fmt.Sprintf("  %-*s = %s", width, c.Name, eval.Literal(c.Value)))
	}
	return append(lines, "}")
}
