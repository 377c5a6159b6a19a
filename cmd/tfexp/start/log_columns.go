package start

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tfexp/tfexp/experiments/schema"
)

// jobProperty is a property of a job, with the names of columns that hold it. The names have only lower-case letters
// and digits, and no unit.
type jobProperty struct {
	name  string
	names []string
	timed bool // whether its numbers have a unit of time
}

var jobProperties = []jobProperty{
	{"arrival", []string{
		"submit", "submitted", "submittime", "submittedtime", "submissiontime", "submittedat", "submitat", "arrival",
		"arrived", "arrivaltime", "created", "createdat", "createtime", "creationtime", "queued", "queuedat", "queuetime",
		"timestamp", "creationtimestamp", "creationdate", "submittimestamp", "submissiontimestamp", "submitdate",
		"enqueued", "enqueuedat",
		"enqueuetime", "qtime", "qdate", "qsubtime",
	}, true},
	{"run_time", []string{
		"runtime", "runningtime", "duration", "jobduration", "elapsed", "elapsedraw", "elapsedtime", "wallclock",
		"walltimeused", "servicetime", "executiontime",
	}, true},
	{"start", []string{"start", "started", "starttime", "startingtime", "startedat", "begin", "began", "begintime", "scheduledtime", "scheduledat",
		"starttimestamp", "startdate", "jobstartdate", "dispatched", "dispatchtime", "launched", "launchedat"}, true},
	{"end", []string{
		"end", "ended", "endtime", "endedat", "finish", "finished", "finishtime", "finishedat", "completed",
		"completedat", "completiontime", "stop", "stopped", "stoptime", "deletiontime", "deletedat",
		"completiontimestamp", "finishtimestamp", "endtimestamp", "enddate", "completiondate", "deletiontimestamp",
	}, true},
	{"requested_time", []string{
		"requestedtime", "requestedwalltime", "requestedruntime", "reqtime", "reqwalltime", "timerequested", "timelimit",
		"walltimelimit", "walltime", "estimatedtime", "limit",
	}, true},
	{"threads", []string{
		"cpus", "cpu", "cores", "ncpus", "ncpu", "ncores", "core", "numcpus", "numcores", "cpunum", "cpucount", "corecount", "reqcpus",
		"requestedcpus", "requestedcores", "alloccpus", "vcpus", "threads", "procs", "nprocs", "processors", "slots",
		"requestcpus", "cpurequest", "cpurequests", "cpusrequested", "requestednumberofresources", "procreq", "procalloc",
	}, false},
	{"gpus", []string{
		"gpus", "gpu", "ngpus", "ngpu", "numgpus", "numgpu", "gpunum", "gpucount", "reqgpus", "requestedgpus", "allocgpus",
		"requestgpus", "gpurequest", "gpurequests", "gpusrequested",
	}, false},
	{"nodes", []string{"nodes", "nnodes", "numnodes", "nodecount", "nodenum", "hosts"}, false},
	{"memory", []string{"memory", "mem", "ram", "reqmem", "reqmemory", "requestedmem", "requestedmemory", "memrequested",
		"memoryrequested", "memreq", "memlimit", "memorylimit"}, false},
	{"memory_used", []string{"maxrss", "peakrss", "usedmem", "usedmemory", "memused", "memoryused", "maxmem", "maxmemory",
		"peakmem", "peakmemory"}, false},
	{"job", []string{"jobid", "id", "job"}, false},
	{"class", []string{
		"class", "jobclass", "queue", "partition", "jobtype", "application", "app", "model", "modelname", "vc",
		"virtualcluster", "project",
	}, false},
	{"user", []string{"user", "username", "userid", "owner", "uid"}, false},
}

// fillers are words in the name of a column that do not show which property the column holds.
var fillers = []string{"on", "at", "time", "date", "datetime", "utc", "local", "number", "no", "ts"}

// unitSuffixes are the units of time at the ends of column names.
var unitSuffixes = []struct {
	words []string
	unit  time.Duration
}{
	{[]string{"ms", "msec", "millis", "milliseconds"}, time.Millisecond},
	{[]string{"s", "sec", "secs", "seconds"}, time.Second},
	{[]string{"min", "mins", "minutes"}, time.Minute},
	{[]string{"h", "hr", "hours"}, time.Hour},
}

// binaryUnits writes units such as KiB in lower case, so that wordsOf does not divide them.
var binaryUnits = strings.NewReplacer("KiB", "kib", "MiB", "mib", "GiB", "gib", "kB", "kb")

// wordsOf returns the words of a column name in lower case: "Submit time (s)" and "submitTime_s" are submit, time, s.
func wordsOf(column string) []string {
	var b strings.Builder
	lower := false
	for _, r := range binaryUnits.Replace(column) {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r, lower = ' ', false
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
			lower = false
		default:
			lower = unicode.IsLower(r)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// propertyOf returns the property that a column holds by its name, and the unit of its numbers. It returns nil for an
// unknown name, and 0 for a name without a unit.
func propertyOf(column string) (*jobProperty, time.Duration) {
	column = column[strings.LastIndexByte(column, '.')+1:] // metadata.creationTimestamp
	words := wordsOf(column)
	find := func(words []string) *jobProperty {
		name := strings.Join(words, "")
		i := slices.IndexFunc(jobProperties, func(f jobProperty) bool { return slices.Contains(f.names, name) })
		if i < 0 {
			return nil
		}
		return &jobProperties[i]
	}
	if f := find(words); f != nil || len(words) < 2 {
		return f, 0
	}
	// "submitted on", "start date", "time_submit", "cpus_req"
	further := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(fillers, w) })
	if len(further) < len(words) && len(further) > 0 {
		if f := find(further); f != nil && (f.timed || f.name == "job") {
			return f, 0
		}
	}
	if f := find([]string{words[1], words[0]}); f != nil && len(words) == 2 {
		return f, 0
	}
	last := len(words) - 1
	for _, u := range unitSuffixes {
		if f := find(words[:last]); f != nil && f.timed && slices.Contains(u.words, words[last]) {
			return f, u.unit
		}
	}
	if f := find(words[:last]); f != nil && memoryUnit(column) != "" && strings.HasPrefix(f.name, "memory") {
		return f, 0
	}
	return nil, 0
}

// memoryUnit returns the unit of memory at the end of a column name, such as 1GB; empty without one.
func memoryUnit(column string) string {
	words := append([]string{""}, wordsOf(column)...)
	units := map[string]string{"kb": "1kB", "kib": "1KiB", "mb": "1MB", "mib": "1MiB", "gb": "1GB", "gib": "1GiB"}
	return units[words[len(words)-1]]
}

// instants are the units of numbers that count from 1970. least is the least number of that unit: fewer digits mean a
// larger unit.
var instants = []struct {
	least float64
	unit  time.Duration
}{{1e17, time.Nanosecond}, {1e14, time.Microsecond}, {1e11, time.Millisecond}}

// scale sets Unit if the instants in the first row have more digits than seconds since 1970.
func (l *JobLog) scale(head, row string) {
	i := slices.IndexFunc(l.Columns, func(c schema.Setting) bool { return c.Name == "arrival" })
	if i < 0 || l.Unit > 0 {
		return
	}
	fields := func(line string) []string {
		in := csv.NewReader(strings.NewReader(line))
		in.Comma, in.LazyQuotes = []rune(cmp.Or(l.Separator, ","))[0], true
		list, _ := in.Read() // a line that cannot be read has no fields
		return list
	}
	at := slices.IndexFunc(fields(head), func(name string) bool { return strings.TrimSpace(name) == l.Columns[i].Value })
	list := fields(row)
	if at < 0 || at >= len(list) {
		return
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(list[at]), 64)
	for _, s := range instants {
		if err == nil && v >= s.least && v < 1e20 {
			l.Unit, l.Scaled = s.unit, l.Columns[i].Value
			break
		}
	}
	if l.RequestedUnit == l.Unit {
		l.RequestedUnit = 0
	}
}

// guess finds the separator of a table and the columns of properties.
func (l *JobLog) guess(head string) {
	separator := ','
	for _, r := range ";\t|" {
		if strings.Count(head, string(r)) > strings.Count(head, string(separator)) {
			separator = r
		}
	}
	if separator != ',' {
		l.Separator = string(separator)
	}
	in := csv.NewReader(strings.NewReader(head))
	in.Comma, in.LazyQuotes = separator, true
	columns, err := in.Read()
	if err != nil && err != io.EOF {
		return
	}
	named := map[string]string{}
	var units []time.Duration
	for _, column := range columns {
		column = strings.TrimSpace(column)
		f, unit := propertyOf(column)
		switch {
		case column == "":
			continue
		case f == nil:
			l.Unread = append(l.Unread, column)
			continue
		case named[f.name] != "":
			continue // the first column of a property counts
		}
		named[f.name] = column
		switch {
		case f.name == "requested_time":
			l.RequestedUnit = unit
		case f.timed && unit > 0:
			l.UnitFrom = column
			if !slices.Contains(units, unit) {
				units = append(units, unit)
			}
		case f.timed:
			l.Unitless = append(l.Unitless, column)
		}
	}
	if named["run_time"] != "" { // the start still shows how long jobs waited
		delete(named, "end")
	}
	if m, used := named["memory"], named["memory_used"]; m == "" || used == "" || memoryUnit(m) != memoryUnit(used) {
		for _, name := range []string{m, used} { // requested and used memory are only compared with each other
			if name != "" {
				l.Unread = append(l.Unread, name)
			}
		}
		delete(named, "memory")
		delete(named, "memory_used")
	} else {
		l.MemoryUnit = memoryUnit(m)
	}
	for _, f := range jobProperties {
		if named[f.name] != "" {
			l.Columns = append(l.Columns, schema.Setting{Name: f.name, Value: named[f.name]})
		}
	}
	if len(units) == 1 {
		l.Unit = units[0]
	}
	if l.RequestedUnit == cmp.Or(l.Unit, time.Second) {
		l.RequestedUnit = 0
	}
}
