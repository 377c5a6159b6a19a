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
// which is exact; no deadline and no prediction are empty fields.
var columns = []string{
	"job", "class", "arrival_s", "threads", "min_threads", "max_threads", "gpus", "memory_bytes",
	"nodes", "malleable", "priority", "deadline_s", "user", "predicted_s",
}

// WriteCSV writes realised jobs as a table that ReadCSV reads back to the same
// jobs, and that is the same byte for byte when it is written again.
func WriteCSV(w io.Writer, jobs []scheduler.Job) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return fmt.Errorf("write workload: %w", err)
	}
	for i := range jobs {
		j := &jobs[i]
		deadline, predicted := "", ""
		if j.Deadline != scheduler.Never {
			deadline = seconds(j.Deadline)
		}
		if j.Predicted != 0 {
			predicted = seconds(j.Predicted)
		}
		row := []string{
			j.Name, j.Class, seconds(j.Arrival), strconv.Itoa(j.Threads), strconv.Itoa(j.MinThreads), strconv.Itoa(j.MaxThreads),
			strconv.Itoa(j.GPUs), strconv.FormatInt(j.Memory, 10), strconv.Itoa(j.Nodes), strconv.FormatBool(j.Malleable),
			strconv.Itoa(j.Priority), deadline, j.User, predicted,
		}
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

// ReadCSV reads a table as WriteCSV writes it. What is wrong with it is a
// LineError.
func ReadCSV(file string, r io.Reader) ([]scheduler.Job, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = len(columns)
	var jobs []scheduler.Job
	names := map[string]bool{}
	for {
		row, err := in.Read()
		if err == io.EOF && in.InputOffset() > 0 {
			return jobs, nil
		}
		if err == io.EOF {
			err = errors.New("the file is empty")
		}
		line := 1
		if err == nil {
			line, _ = in.FieldPos(0)
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			line, err = bad.Line, bad.Err
		}
		switch {
		case err != nil:
		case line == 1 && !slices.Equal(row, columns):
			err = fmt.Errorf("the columns are not %s", strings.Join(columns, ","))
		case line == 1:
			continue
		case names[row[0]]:
			err = fmt.Errorf("job %q is there twice", row[0])
		default:
			names[row[0]] = true
			var j scheduler.Job
			if j, err = parseRow(row); err == nil {
				j.Number = len(jobs)
				jobs = append(jobs, j)
				continue
			}
		}
		return nil, fmt.Errorf("read workload: %w", &LineError{file, line, err})
	}
}

// parseRow reads the fields of a row, and tells of the first that is wrong.
func parseRow(row []string) (scheduler.Job, error) {
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
		Name: row[0], Class: row[1], Arrival: duration(2, -1),
		Threads: int(integer(3)), MinThreads: int(integer(4)), MaxThreads: int(integer(5)),
		GPUs: int(integer(6)), Memory: integer(7), Nodes: int(integer(8)),
		Malleable: row[9] == "true", Priority: int(integer(10)),
		Deadline: duration(11, scheduler.Never), User: row[12], Predicted: duration(13, 0),
	}
	switch {
	case row[9] != "true" && row[9] != "false":
		fail(9, "true or false")
	case j.Name == "":
		fail(0, "a name")
	case j.Arrival < 0:
		fail(2, "a time in seconds")
	case j.Threads < 1:
		fail(3, "a number from 1 on")
	}
	return j, failed
}

// seconds writes a time that is not negative with all its nanoseconds.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second)
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
