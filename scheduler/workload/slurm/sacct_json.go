package slurm

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// EachJob is EachRow for the output of sacct, which may also be JSON (sacct --json). Jobs in JSON become rows with the
// columns of the text. Their line is the one on which the job begins.
func EachJob(t textfile.Table, file string, r io.Reader, lenient bool,
	head func(columns []string) error, row func(line int, fields []string) error,
) (skipped []error, err error) {
	in := bufio.NewReader(textfile.Unmarked(r))
	begin, _ := in.Peek(in.Size())
	if !IsJSON(begin) {
		return EachRow(t, file, in, lenient, head, row)
	}
	if err := head(slices.Clone(jsonColumns)); err != nil {
		return nil, &textfile.LineError{File: file, Line: 1, Err: err}
	}
	lines := &lineReader{r: in}
	d := &jsonJobs{file: file, lines: lines, in: json.NewDecoder(lines), lenient: lenient, row: row}
	err = d.read()
	switch {
	case err == errEnough:
		return nil, errors.Join(d.found...)
	case err != nil:
		err = &textfile.LineError{File: file, Line: lines.at(d.offset(err)), Err: d.explain(err)}
		return nil, errors.Join(append(d.found, err)...)
	case lenient:
		return d.found, nil
	}
	return nil, errors.Join(d.found...)
}

// InUTC is the assumption about a log whose instants are numbers.
const InUTC = "its instants are seconds since 1970: hours of the day are in UTC, and not by the clock of the cluster"

// IsJSON reports whether a text begins as JSON.
func IsJSON(head []byte) bool {
	head = bytes.TrimSpace(head)
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// lineReader remembers where lines end.
type lineReader struct {
	r      io.Reader
	read   int64
	breaks []int64 // offsets of line feeds that at has not passed
	passed int
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.breaks = append(l.breaks, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset. Offsets must not decrease.
func (l *lineReader) at(offset int64) int {
	i := 0
	for i < len(l.breaks) && l.breaks[i] < offset {
		i++
	}
	l.breaks, l.passed = l.breaks[i:], l.passed+i
	return l.passed + 1
}

// jsonJobs reads jobs in JSON.
type jsonJobs struct {
	file    string
	lines   *lineReader
	in      *json.Decoder
	lenient bool
	row     func(line int, fields []string) error
	found   []error
	inside  bool // whether a value has begun that has not ended
	checked bool // whether the keys of the first job were checked
}

// errEnough says that there were too many errors to read on.
var errEnough = errors.New("too many errors")

// read reads all values of the file: objects with a list of jobs, or such lists.
func (d *jsonJobs) read() error {
	for {
		d.inside = false
		token, err := d.in.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		d.inside = true
		switch token {
		case json.Delim('['):
			err = d.jobs()
		case json.Delim('{'):
			err = d.object()
		default:
			err = errors.New("a number or a text is where the JSON of sacct begins")
		}
		if err != nil {
			return err
		}
	}
}

// object reads the rest of an object with the list of jobs.
func (d *jsonJobs) object() error {
	some := false
	for d.in.More() {
		key, err := d.in.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		switch key {
		case "jobs":
			some = true
			if token, err := d.in.Token(); err != nil {
				return err
			} else if token != json.Delim('[') {
				return errors.New("its jobs are not a list: print it again with  sacct -a -X -D --json")
			}
			err = d.jobs()
		default:
			if err = d.in.Decode(&value); err == nil && key == "errors" {
				err = printedErrors(value)
			}
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.in.Token(); err != nil { // the closing brace
		return err
	}
	if !some {
		return errors.New(`it has no list of jobs with the name "jobs": print a log with  sacct -a -X -D --json, and ` +
			"other tables of Slurm without --json")
	}
	return nil
}

// printedErrors returns the errors that sacct has printed in place of jobs.
func printedErrors(value json.RawMessage) error {
	var list []struct{ Description, Error text }
	if json.Unmarshal(value, &list) != nil || len(list) == 0 {
		return nil
	}
	return fmt.Errorf("sacct has printed an error: %s. Print it again",
		cmp.Or(list[0].Description, list[0].Error, "without a description"))
}

// jobs reads the rest of a list of jobs.
func (d *jsonJobs) jobs() error {
	for d.in.More() {
		var raw json.RawMessage
		if err := d.in.Decode(&raw); err != nil {
			return err
		}
		line := d.lines.at(d.in.InputOffset() - int64(len(raw)))
		if !d.checked {
			if err := checkKeys(raw); err != nil {
				return err
			}
			d.checked = true
		}
		fields, err := jobFields(raw)
		if err == nil {
			if err = d.row(line, fields); err != nil {
				err = fmt.Errorf("job %s: %w", fields[0], err)
			}
		}
		if err != nil {
			d.found = append(d.found, &textfile.LineError{File: d.file, Line: line, Err: err})
			if !d.lenient && len(d.found) == textfile.MaxErrors {
				return errEnough
			}
		}
	}
	_, err := d.in.Token() // the closing bracket
	return err
}

// offset returns the place of an error: the beginning of the value that is wrong, or the end of a file that is cut off.
func (d *jsonJobs) offset(err error) int64 {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return d.lines.read
	}
	return d.in.InputOffset() + int64(len(",\n"))
}

// explain returns the error for a file that is not JSON.
func (d *jsonJobs) explain(err error) error {
	var wrong *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the file ends within the JSON: it was cut off. Print it again")
	case errors.As(err, &wrong) && !d.inside:
		return errors.New("other text follows the JSON: give each log in its own file")
	case errors.As(err, &wrong):
		return fmt.Errorf("the value that begins here is not JSON: %w. Print it again with  sacct -a -X -D --json", err)
	}
	return err
}

// checkKeys checks that a job has the keys of sacct.
func checkKeys(raw json.RawMessage) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return errors.New("a job is not an object: print it again with  sacct -a -X -D --json")
	}
	if keys["job_state"] != nil {
		return errors.New("it is JSON of squeue or scontrol, the current jobs: a replay needs jobs that have ended, " +
			"which  sacct -a -X -D --json  prints")
	}
	for _, need := range []string{"job_id", "time", "state", "tres", "required", "user", "partition"} {
		if keys[need] == nil {
			return fmt.Errorf("a job has no key %q: print it again with  sacct -a -X -D --json", need)
		}
	}
	return nil
}

// Numbers of Slurm that mean no value, and no limit.
const (
	noValue  = math.MaxUint32 - 1
	infinite = math.MaxUint32
)

// number is a number in JSON of Slurm: a plain one, or an object that says whether it is set. The zero value is not.
type number struct {
	value         int64
	set, infinite bool
}

// mistaken returns the error for a value that is not understood. The decoder adds the key.
func mistaken(raw []byte) error {
	return &json.UnmarshalTypeError{Value: string(raw[:min(len(raw), 60)])}
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	*n = number{}
	var o struct {
		Set, Infinite bool
		Number        *json.Number
	}
	switch plain := string(raw); {
	case plain == "null", plain == `""`:
		return nil
	case plain == `"Infinity"`:
		n.infinite = true
		return nil
	case raw[0] == '{':
		if json.Unmarshal(raw, &o) != nil || o.Number == nil && o.Set {
			return mistaken(raw)
		}
		if n.infinite = o.Infinite; !o.Set || o.Infinite {
			return nil
		}
		raw = []byte(*o.Number)
	}
	v, err := strconv.ParseInt(string(raw), 10, 64)
	switch {
	case err != nil && (string(raw) == "18446744073709551614" || string(raw) == "18446744073709551615"):
		n.infinite = string(raw) == "18446744073709551615"
		return nil
	case err != nil:
		return mistaken(raw)
	}
	n.value, n.set, n.infinite = v, v != noValue && v != infinite, v == infinite
	return nil
}

// text is a text in JSON; null is empty.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(raw []byte) error {
	var s *string
	if json.Unmarshal(raw, &s) != nil {
		return mistaken(raw)
	}
	if *t = ""; s != nil {
		*t = text(*s)
	}
	return nil
}

// states is the state of a job, and flags behind it: one text, or a list.
type states []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *states) UnmarshalJSON(raw []byte) error {
	var one text
	if json.Unmarshal(raw, (*[]string)(s)) == nil {
		return nil
	}
	if one.UnmarshalJSON(raw) != nil {
		return mistaken(raw)
	}
	*s = states{string(one)}
	return nil
}

// tres is an amount of a trackable resource.
type tres struct {
	Type  text   `json:"type"`
	Name  text   `json:"name"`
	Count number `json:"count"`
}

// jsonJob is a job in the JSON of sacct. The tags give the keys for errors.
type jsonJob struct {
	ID    number `json:"job_id"`
	Array struct {
		ID     number `json:"job_id"`
		TaskID number `json:"task_id"`
		Task   text   `json:"task"`
	} `json:"array"`
	Het struct {
		ID     number `json:"job_id"`
		Offset number `json:"job_offset"`
	} `json:"het"`
	User        text `json:"user"`
	Account     text `json:"account"`
	Cluster     text `json:"cluster"`
	Partition   text `json:"partition"`
	QOS         text `json:"qos"`
	Constraints text `json:"constraints"`
	Licenses    text `json:"licenses"`
	SubmitLine  text `json:"submit_line"`
	Association struct {
		User    text `json:"user"`
		Account text `json:"account"`
	} `json:"association"`
	AllocationNodes number `json:"allocation_nodes"`
	Reservation     struct {
		ID   number          `json:"id"`
		Name json.RawMessage `json:"name"`
	} `json:"reservation"`
	Required struct {
		CPUs    number `json:"CPUs"`
		PerCPU  number `json:"memory_per_cpu"`
		PerNode number `json:"memory_per_node"`
		Memory  number `json:"memory"`
	} `json:"required"`
	State struct {
		Current states `json:"current"`
	} `json:"state"`
	Time struct {
		Submission number `json:"submission"`
		Eligible   number `json:"eligible"`
		Start      number `json:"start"`
		End        number `json:"end"`
		Elapsed    number `json:"elapsed"`
		Suspended  number `json:"suspended"`
		Limit      number `json:"limit"`
	} `json:"time"`
	TRES struct {
		Allocated []tres `json:"allocated"`
		Requested []tres `json:"requested"`
	} `json:"tres"`
}

// jsonColumns are the columns of the rows that jobs in JSON become.
var jsonColumns = strings.Fields("JobID User Account Cluster Partition QOS Submit Eligible Start End ElapsedRaw Suspended " +
	"TimelimitRaw ReqCPUS AllocCPUS NNodes ReqNodes ReqMem ReqTRES AllocTRES State Constraints Reservation Licenses SubmitLine")

// jobFields returns the fields of jsonColumns for a job.
func jobFields(raw json.RawMessage) ([]string, error) {
	var j jsonJob
	err := json.Unmarshal(raw, &j)
	id := j.name()
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return nil, fmt.Errorf("job %s: the value of the key %s is not understood: %s", id, wrong.Field, wrong.Value)
	} else if err != nil {
		return nil, fmt.Errorf("job %s: %w", id, err)
	}
	memory, err := j.memory()
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", id, err)
	}
	reservation, err := j.reservation()
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", id, err)
	}
	limit := j.Time.Limit.or("Partition_Limit")
	if j.Time.Limit.infinite {
		limit = "UNLIMITED"
	}
	state := ""
	if n := len(j.State.Current); n > 0 {
		state = j.State.Current[n-1] // flags such as REQUEUED are behind the state
	}
	nodes := j.AllocationNodes
	if nodes.value == 0 {
		nodes = amount(j.TRES.Requested, "node")
	}
	return []string{
		id, string(cmp.Or(j.User, j.Association.User)), string(cmp.Or(j.Account, j.Association.Account)), string(j.Cluster),
		string(j.Partition), string(j.QOS), j.Time.Submission.instant(), j.Time.Eligible.instant(), j.start().instant(),
		j.Time.End.instant(), j.Time.Elapsed.or(""), j.Time.Suspended.or("0"), limit, j.Required.CPUs.or(""),
		amount(j.TRES.Allocated, "cpu").or(""), nodes.or(""), amount(j.TRES.Requested, "node").or(""), memory,
		tresText(j.TRES.Requested), tresText(j.TRES.Allocated), state, string(j.Constraints), reservation, string(j.Licenses),
		string(j.SubmitLine),
	}, nil
}

// name returns the job's ID as sacct prints it.
func (j *jsonJob) name() string {
	switch id := j.ID.or("?"); {
	case j.Array.ID.value > 0 && j.Array.TaskID.set:
		return fmt.Sprintf("%d_%d", j.Array.ID.value, j.Array.TaskID.value)
	case j.Array.ID.value > 0 && j.Array.Task != "":
		return fmt.Sprintf("%d_[%s]", j.Array.ID.value, j.Array.Task)
	case j.Het.ID.value > 0 && j.Het.Offset.set:
		return fmt.Sprintf("%d+%d", j.Het.ID.value, j.Het.Offset.value)
	default:
		return id
	}
}

// start returns when the job started. Before version 23.11, Slurm could write the time of eligibility in its place: the
// start then follows from the end and the run time.
func (j *jsonJob) start() number {
	t := &j.Time
	if j.AllocationNodes.value == 0 && len(j.TRES.Allocated) == 0 && t.Elapsed.value == 0 { // it never started
		return number{}
	}
	ran := t.Elapsed.value + t.Suspended.value
	if t.End.value > 0 && t.Elapsed.set && t.Start.value == t.Eligible.value && t.End.value-t.Start.value > ran {
		return number{value: t.End.value - ran, set: true}
	}
	return t.Start
}

// memory returns the memory that the job asked for, as ReqMem has it.
func (j *jsonJob) memory() (string, error) {
	r := &j.Required
	switch all := amount(j.TRES.Requested, "mem"); {
	case all.value > 0:
		return fmt.Sprintf("%dM", all.value), nil
	case r.PerCPU.value > 0:
		return fmt.Sprintf("%dMc", r.PerCPU.value), nil
	case r.PerNode.value > 0:
		return fmt.Sprintf("%dMn", r.PerNode.value), nil
	case r.Memory.value != 0:
		return "", errors.New("the key required.memory does not say whether each CPU or each node has so much, and " +
			"tres.requested has no memory: print the log with  sacct --parsable2")
	}
	return "", nil
}

// reservation returns the name of the job's reservation.
func (j *jsonJob) reservation() (string, error) {
	var name text
	if err := name.UnmarshalJSON([]byte(cmp.Or(string(j.Reservation.Name), "null"))); err == nil {
		return string(name), nil
	}
	if j.Reservation.ID.value == 0 { // early versions write a number without a meaning
		return "", nil
	}
	return "", errors.New("the key reservation.name has no text in this version of Slurm: print the log with  " +
		"sacct --parsable2")
}

// or returns the number as text, or another text if it is not set.
func (n number) or(other string) string {
	if !n.set {
		return other
	}
	return strconv.FormatInt(n.value, 10)
}

// instant returns the number as a time; "Unknown" for none.
func (n number) instant() string {
	if n.value <= 0 {
		return "Unknown"
	}
	return n.or("Unknown")
}

// amount returns the amount of a resource.
func amount(list []tres, kind text) number {
	for _, r := range list {
		if r.Type == kind && r.Name == "" {
			return r.Count
		}
	}
	return number{}
}

// tresText returns resources as sacct prints them: cpu=4,mem=16000M,gres/gpu:a100=2. Unknown amounts are negative, and
// are left out.
func tresText(list []tres) string {
	var all []string
	for _, r := range list {
		if !r.Count.set || r.Count.value < 0 {
			continue
		}
		item, unit := string(r.Type), ""
		if r.Name != "" {
			item += "/" + string(r.Name)
		}
		if r.Type == "mem" {
			unit = "M"
		}
		all = append(all, fmt.Sprintf("%s=%d%s", item, r.Count.value, unit))
	}
	return strings.Join(all, ",")
}
