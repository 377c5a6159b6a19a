package formats

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// CSV is the format in which tfexp writes workloads: a table that can hold all facts.
var CSV = &Format{
	Name: "csv", Rank: 3, Endings: []string{".csv"}, Holds: Everything,
	Doc: "The output of `tfexp export workload`. The file has all properties of jobs; job blocks only " +
		"name the programs.",
	Reader: readCSV, Writer: WriteCSV,
}

var _ = Register(CSV)

// columns are the columns of the table. Times are seconds with nine decimals, which is exact. An unknown deadline,
// prediction or run time is an empty field. Resizes are pairs of instant and threads: 5.000000000:2;7.500000000:4.
var columns = []string{
	"job", "class", "arrival_s", "threads", "min_threads", "max_threads", "gpus", "memory_bytes",
	"nodes", "malleable", "priority", "deadline_s", "user", "predicted_s", "run_time_s", "resizes",
}

// TextColumn reports whether a column of the table contains text, even if it looks like numbers.
func TextColumn(name string) bool {
	return slices.Contains([]string{"job", "class", "user", "resizes", alternativesColumn}, name)
}

// The indexes of the columns.
const (
	csvJob = iota
	csvClass
	csvArrival
	csvThreads
	csvMinThreads
	csvMaxThreads
	csvGPUs
	csvMemory
	csvNodes
	csvMalleable
	csvPriority
	csvDeadline
	csvUser
	csvPredicted
	csvRunTime
	csvResizes
)

// batchColumn is the name of the column with batch sizes.
const batchColumn = "batch_size"

// furtherColumns come after the other columns, in tables that need them.
var furtherColumns = []string{batchColumn, alternativesColumn}

// WriteCSV writes a workload as a table. Reading the table returns the same workload. Writing it again writes the
// same bytes.
func WriteCSV(w io.Writer, t workload.Trace) error {
	out := csv.NewWriter(w)
	batches := slices.ContainsFunc(t.Jobs, func(j scheduler.Job) bool { return j.Batch() > 0 })
	alternatives := slices.ContainsFunc(t.Alternatives, func(all []workload.Alternative) bool { return len(all) > 0 })
	head := slices.Clone(columns)
	if batches {
		head = append(head, batchColumn)
	}
	if alternatives {
		head = append(head, alternativesColumn)
	}
	if err := out.Write(head); err != nil {
		return err
	}
	resizes := make(map[int]string, len(t.Resizes))
	for _, z := range t.Resizes {
		one := textfile.Seconds(z.At) + ":" + strconv.Itoa(z.Threads)
		if before, ok := resizes[z.Job]; ok {
			one = before + ";" + one
		}
		resizes[z.Job] = one
	}
	row := make([]string, 0, len(columns))
	for i := range t.Jobs {
		j := &t.Jobs[i]
		deadline, predicted, run := "", "", ""
		if j.Deadline != scheduler.Never {
			deadline = textfile.Seconds(j.Deadline)
		}
		if j.Predicted != 0 {
			predicted = textfile.Seconds(j.Predicted)
		}
		if t.Timed(i) {
			run = textfile.Seconds(t.RunTimes[i])
		}
		row = append(row[:0],
			j.Name, j.Class, textfile.Seconds(j.Arrival),
			strconv.Itoa(j.Threads), strconv.Itoa(j.MinThreads), strconv.Itoa(j.MaxThreads),
			strconv.Itoa(j.GPUs), strconv.FormatInt(j.Memory, 10), strconv.Itoa(j.Nodes), strconv.FormatBool(j.Malleable),
			strconv.Itoa(max(j.Priority, 0)), deadline, j.User, predicted, run, resizes[i])
		if batches {
			row = append(row, strconv.Itoa(j.Batch()))
		}
		if alternatives {
			row = append(row, writeAlternatives(t.AlternativesOf(i)))
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// readCSV reads a table in the form of WriteCSV.
func readCSV(file string, r io.Reader, o Options) (workload.Trace, error) {
	var b logs.Builder
	var further []string
	skipped, err := textfile.EachRow(file, r, o.Lenient, func(head []string) error {
		ok := len(head) >= len(columns) && slices.Equal(head[:len(columns)], columns)
		if ok {
			further = slices.Clone(head[len(columns):])
			rest := furtherColumns
			for _, name := range further {
				i := slices.Index(rest, name)
				ok = ok && i >= 0
				rest = rest[i+1:]
			}
		}
		if !ok {
			return fmt.Errorf("the columns are not those that tfexp writes (%s, …): a log from elsewhere has format = \"table\", "+
				"and columns that say which is which (tfexp init --from %s writes both)",
				strings.Join(columns[:4], ","), file)
		}
		return nil
	}, func(line int, fields []string) error {
		return (&csvRow{fields: fields, further: further}).add(&b, line)
	})
	if err != nil {
		return workload.Trace{}, err
	}
	return b.Finish(skipped), nil
}

// csvRow reads the fields of a row, and keeps the first error.
type csvRow struct {
	fields  []string
	further []string // names of the further columns in this table
	err     error
}

// field returns the field of a further column; empty if the table has no such column.
func (r *csvRow) field(name string) string {
	if i := slices.Index(r.further, name); i >= 0 {
		return r.fields[len(columns)+i]
	}
	return ""
}

// add adds the job of the row and the changes of its request.
func (r *csvRow) add(b *logs.Builder, line int) error {
	j := scheduler.Job{
		Name: strings.Clone(r.fields[csvJob]), Class: b.Share(r.fields[csvClass]), // strings of a row share memory
		Arrival:    r.duration(csvArrival, -1),
		Threads:    int(r.integer(csvThreads)),
		MinThreads: int(r.integer(csvMinThreads)), MaxThreads: int(r.integer(csvMaxThreads)),
		GPUs: int(r.integer(csvGPUs)), Memory: r.integer(csvMemory), Nodes: int(r.integer(csvNodes)),
		Malleable: r.fields[csvMalleable] == "true", Priority: int(r.integer(csvPriority)),
		Deadline: r.duration(csvDeadline, scheduler.Never), User: b.Share(r.fields[csvUser]),
		Predicted: r.duration(csvPredicted, 0),
	}
	if slices.Contains(r.further, batchColumn) {
		text := r.field(batchColumn)
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			r.failAt(batchColumn, "a number from 0 on")
		}
		j.Own().Batch = n
	}
	run := r.duration(csvRunTime, -1)
	r.check(&j)
	resizes := r.resizes()
	alternatives := r.alternatives(&j, run)
	if r.err != nil {
		return r.err
	}
	number := len(b.Jobs)
	if err := b.Add(line, j, run); err != nil {
		return err
	}
	b.AddAlternatives(alternatives)
	for _, z := range resizes {
		z.Job = number
		b.Resize(line, z)
	}
	return nil
}

// check records an error if fields of the job contradict each other.
func (r *csvRow) check(j *scheduler.Job) {
	if m := r.fields[csvMalleable]; m != "true" && m != "false" {
		r.fail(csvMalleable, "true or false")
	}
	switch {
	case j.Name == "":
		r.fail(csvJob, "a name")
	case j.Arrival < 0:
		r.fail(csvArrival, "a time in seconds")
	case j.Threads < 1:
		r.fail(csvThreads, "a number from 1 on")
	case j.MinThreads > j.Threads:
		r.fail(csvMinThreads, "at most the number of threads")
	case j.MaxThreads != 0 && j.MaxThreads < j.Threads:
		r.fail(csvMaxThreads, "0, or at least the number of threads")
	}
}

// resizes parses a list of instants and threads.
func (r *csvRow) resizes() []scheduler.Resize {
	text := r.fields[csvResizes]
	if text == "" {
		return nil
	}
	var list []scheduler.Resize
	for one := range strings.SplitSeq(text, ";") {
		at, threads, _ := strings.Cut(one, ":")
		instant, ok := textfile.ParseSeconds(at)
		n, err := strconv.Atoi(threads)
		if !ok || err != nil || n < 1 || n > workload.MaxThreads {
			r.fail(csvResizes, "a list of instants and threads, like 5.0:2;7.5:4")
			return nil
		}
		list = append(list, scheduler.Resize{At: instant, Threads: n})
	}
	return list
}

func (r *csvRow) integer(column int) int64 {
	n, err := strconv.ParseInt(r.fields[column], 10, 64)
	if err != nil || n < 0 {
		r.fail(column, "a number from 0 on")
	}
	return n
}

// duration parses a time in seconds. It returns empty for an empty field.
func (r *csvRow) duration(column int, empty time.Duration) time.Duration {
	if r.fields[column] == "" {
		return empty
	}
	d, ok := textfile.ParseSeconds(r.fields[column])
	if !ok {
		r.fail(column, "a time in seconds")
	}
	return d
}

func (r *csvRow) fail(column int, wanted string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s %q is not %s", columns[column], r.fields[column], wanted)
	}
}

// failAt is fail for a further column.
func (r *csvRow) failAt(column, wanted string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s %q is not %s", column, r.field(column), wanted)
	}
}
