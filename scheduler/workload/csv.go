package workload

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// columns of a workload's CSV form. Times are seconds with nine decimals,
// which is exact; no deadline, no prediction and no run time are empty fields.
// Resizes are instants and threads: 5.000000000:2;7.500000000:4.
var columns = []string{
	"job", "class", "arrival_s", "threads", "min_threads", "max_threads", "gpus", "memory_bytes",
	"nodes", "malleable", "priority", "deadline_s", "user", "predicted_s", "run_time_s", "resizes",
}

// WriteCSV writes a realised workload as a table that ReadCSV reads back to the
// same one, and that is the same byte for byte when it is written again.
func WriteCSV(w io.Writer, t Trace) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return fmt.Errorf("write workload: %w", err)
	}
	resizes := make(map[int]string, len(t.Resizes))
	for _, z := range t.Resizes {
		one := seconds(z.At) + ":" + strconv.Itoa(z.Threads)
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
			deadline = seconds(j.Deadline)
		}
		if j.Predicted != 0 {
			predicted = seconds(j.Predicted)
		}
		if t.RunTimes != nil && t.RunTimes[i] >= 0 {
			run = seconds(t.RunTimes[i])
		}
		row = append(row[:0],
			j.Name, j.Class, seconds(j.Arrival), strconv.Itoa(j.Threads), strconv.Itoa(j.MinThreads), strconv.Itoa(j.MaxThreads),
			strconv.Itoa(j.GPUs), strconv.FormatInt(j.Memory, 10), strconv.Itoa(j.Nodes), strconv.FormatBool(j.Malleable),
			strconv.Itoa(max(j.Priority, 0)), deadline, j.User, predicted, run, resizes[i])
		if err := out.Write(row); err != nil {
			return fmt.Errorf("write workload: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write workload: %w", err)
	}
	return nil
}

// ReadCSV reads a table as WriteCSV writes it. What is wrong with its rows are
// LineErrors. Times are in seconds, whatever the options say.
func ReadCSV(file string, r io.Reader, o Options) (Trace, error) {
	in := csv.NewReader(unmarked(r))
	in.FieldsPerRecord = len(columns)
	in.ReuseRecord = true
	t := newReader()
	var found []error
	head := false
	for o.Lenient || len(found) < MaxErrors {
		row, err := in.Read()
		if err == io.EOF && head {
			break
		}
		if err == io.EOF {
			err = errors.New("the file is empty")
		}
		line := 1
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			line, err = bad.StartLine, bad.Err
		case err == nil:
			line, _ = in.FieldPos(0)
		case head: // the file cannot be read on
			return Trace{}, fmt.Errorf("read workload: %w", err)
		}
		switch {
		case err != nil:
		case !head && !slices.Equal(row, columns):
			err = fmt.Errorf("the columns are not %s", strings.Join(columns, ","))
		case !head:
			head = true
			continue
		default:
			err = t.csvRow(line, row)
		}
		if err == nil {
			continue
		}
		err = &LineError{file, line, err}
		if !head { // without columns nothing can be read
			return Trace{}, fmt.Errorf("read workload: %w", err)
		}
		found = append(found, err)
	}
	if len(found) > 0 && !o.Lenient {
		return Trace{}, fmt.Errorf("read workload: %w", errors.Join(found...))
	}
	if !slices.ContainsFunc(t.RunTimes, func(d time.Duration) bool { return d >= 0 }) {
		t.RunTimes = nil
	}
	t.Skipped = found
	return t.Trace, nil
}

// csvRow reads the fields of a row, and tells of the first that is wrong.
func (t *reader) csvRow(line int, row []string) error {
	var failed error
	fail := func(column int, what string) {
		if failed == nil {
			failed = fmt.Errorf("%s %q is not %s", columns[column], row[column], what)
		}
	}
	integer := func(column int) int64 {
		n, err := strconv.ParseInt(row[column], 10, 64)
		if err != nil || n < 0 {
			fail(column, "a number from 0 on")
		}
		return n
	}
	duration := func(column int, empty time.Duration) time.Duration {
		if row[column] == "" {
			return empty
		}
		d, ok := parseSeconds(row[column])
		if !ok {
			fail(column, "a time in seconds")
		}
		return d
	}
	j := scheduler.Job{
		Name: strings.Clone(row[0]), Class: t.share(row[1]), Arrival: duration(2, -1), // a row is one string
		Threads: int(integer(3)), MinThreads: int(integer(4)), MaxThreads: int(integer(5)),
		GPUs: int(integer(6)), Memory: integer(7), Nodes: int(integer(8)),
		Malleable: row[9] == "true", Priority: int(integer(10)),
		Deadline: duration(11, scheduler.Never), User: t.share(row[12]), Predicted: duration(13, 0),
	}
	run := duration(14, -1)
	switch {
	case row[9] != "true" && row[9] != "false":
		fail(9, "true or false")
	case j.Name == "":
		fail(0, "a name")
	case j.Arrival < 0:
		fail(2, "a time in seconds")
	case j.Threads < 1:
		fail(3, "a number from 1 on")
	case j.MinThreads > j.Threads:
		fail(4, "a number up to that of the threads")
	case j.MaxThreads != 0 && j.MaxThreads < j.Threads:
		fail(5, "0, or a number from that of the threads on")
	}
	var resizes []scheduler.Resize
	for one := range strings.SplitSeq(row[15], ";") {
		if row[15] == "" {
			break
		}
		at, threads, _ := strings.Cut(one, ":")
		instant, ok := parseSeconds(at)
		n, err := strconv.Atoi(threads)
		if !ok || err != nil || n < 1 || n > maxThreads {
			fail(15, "a list of instants and threads, like 5.0:2;7.5:4")
			break
		}
		resizes = append(resizes, scheduler.Resize{At: instant, Job: len(t.Jobs), Threads: n})
	}
	if failed != nil {
		return failed
	}
	if err := t.add(line, j, run); err != nil {
		return err
	}
	for _, z := range resizes {
		t.Resizes, t.ResizeLines = append(t.Resizes, z), append(t.ResizeLines, int32(line))
	}
	return nil
}

// seconds writes a time that is not negative with all its nanoseconds.
func seconds(d time.Duration) string {
	b := strconv.AppendInt(make([]byte, 0, 20), int64(d/time.Second), 10)
	point := len(b)
	b = strconv.AppendInt(b, int64(time.Second+d%time.Second), 10) // a 1 and nine digits
	b[point] = '.'
	return string(b)
}

// parseSeconds reads what seconds writes, with fewer decimals too, without
// rounding.
func parseSeconds(s string) (time.Duration, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || n > math.MaxInt64/uint64(time.Second)-1 || len(fraction) > 9 {
		return 0, false
	}
	nanos, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 63)
	if err != nil {
		return 0, false
	}
	return time.Duration(n)*time.Second + time.Duration(nanos), true
}
