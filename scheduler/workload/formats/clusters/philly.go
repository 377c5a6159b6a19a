package clusters

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// The log of Microsoft's Philly (M. Jeon and others, "Analysis of Large-Scale Multi-Tenant GPU
// Clusters for DNN Training Workloads", ATC 2019).
var _ = formats.Register(&formats.Format{
	Name: "philly", Rank: 12, Holds: formats.TableHolds,
	Doc: "The log of Microsoft's Philly: `cluster_job_log`, a list of jobs in JSON, or a CSV file made " +
		"from it (with columns such as `jobid`, `submitted_time`, `duration` or `run_time`, `gpus` or " +
		"`num_gpus`, `vc`, `user`). A job has the GPUs of its last attempt. It has the nodes of that attempt " +
		"if each had the same number of GPUs. Its run time is the sum over all attempts, and its class is its " +
		"virtual cluster. Jobs without a complete attempt never ran.",
	Args:   formats.TableSchema(),
	Reader: readPhilly,
})

// phillyTable is the layout of CSV files that were made from the log.
var phillyTable = formats.Layout{Unused: unused("philly", ""), Columns: map[string][]string{
	formats.FactJob: {"jobid", "job_id"}, formats.FactUser: {"user"}, formats.FactClass: {"vc"},
	formats.FactArrival: {"submitted_time", "submit_time", "timestamp"}, formats.FactRunTime: {"duration", "run_time", "runtime"},
	formats.FactStart: {"start_time"}, formats.FactEnd: {"end_time", "finish_time"},
	formats.FactGPUs: {"gpus", "num_gpus", "gpu_num", "num_gpu"}, formats.FactNodes: {"nodes", "num_nodes"},
}}

// phillyJob is a job in the log. A time is a date, "None" or null.
type phillyJob struct {
	ID        string  `json:"jobid"`
	User      string  `json:"user"`
	VC        string  `json:"vc"`
	Status    string  `json:"status"`
	Submitted *string `json:"submitted_time"`
	Attempts  []struct {
		Start  *string `json:"start_time"`
		End    *string `json:"end_time"`
		Detail []struct {
			IP   string   `json:"ip"`
			GPUs []string `json:"gpus"`
		} `json:"detail"`
	} `json:"attempts"`
}

// jobList is the state while the list of jobs is read.
type jobList struct {
	logs.Builder
	args  formats.TableArgs
	first time.Duration // instant of the first submission
}

// mostBlanks is the greatest number of successive blanks in JSON. The decoder scans blanks again for each block that
// it reads, so more of them would take too long.
const mostBlanks = 1 << 16

// lineCounter is a reader that counts the lines of the JSON that is read through it.
type lineCounter struct {
	io.Reader
	ends   []int64 // offsets of line ends that at has not passed yet
	read   int64
	line   int // line of the offset in the last call of at
	blanks int // number of blanks at the end of the input so far
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	for i, b := range p[:n] {
		switch b {
		case '\n':
			c.ends = append(c.ends, c.read+int64(i))
			c.blanks++
		case ' ', '\t', '\r':
			c.blanks++
		default:
			c.blanks = 0
		}
	}
	if c.blanks > mostBlanks {
		return 0, fmt.Errorf("the file has more than %d spaces in a row: it is damaged, or not a log of Philly", mostBlanks)
	}
	c.read += int64(n)
	return n, err
}

// at returns the line of an offset. Offsets must not decrease from call to call.
func (c *lineCounter) at(offset int64) int {
	passed := 0
	for passed < len(c.ends) && c.ends[passed] < offset {
		passed++
	}
	c.line += passed
	c.ends = append(c.ends[:0], c.ends[passed:]...)
	return c.line + 1
}

// readPhilly reads a file job by job.
func readPhilly(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
	in := bufio.NewReader(textfile.Unmarked(r))
	first, err := in.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return workload.Trace{}, err
	}
	if !bytes.HasPrefix(bytes.TrimLeft(first, " \t\r\n"), []byte("[")) {
		return phillyTable.Read(file, in, o)
	}
	lines := &lineCounter{Reader: in}
	decoder := json.NewDecoder(lines)
	t := jobList{args: o.TableArgs()}
	var found []error
	fail := func(err error) {
		found = append(found, &textfile.LineError{File: file, Line: lines.at(decoder.InputOffset()), Err: err})
	}
	if _, err := decoder.Token(); err != nil {
		return workload.Trace{}, &textfile.LineError{File: file, Line: 1, Err: err}
	}
	for decoder.More() {
		var j phillyJob
		line := lines.at(decoder.InputOffset()) // at the end of the job before
		err := decoder.Decode(&j)
		var mistyped *json.UnmarshalTypeError
		if err != nil && !errors.As(err, &mistyped) { // after other errors, the next job cannot be found
			fail(err)
			return workload.Trace{}, errors.Join(found...)
		}
		if err == nil {
			err = t.add(line, &j)
		} else {
			err = plainJSON(err)
		}
		if err != nil {
			if fail(err); !o.Lenient && len(found) == textfile.MaxErrors {
				break
			}
		}
	}
	if _, err := decoder.Token(); err != nil && len(found) < textfile.MaxErrors { // end of the list
		if lines.blanks <= mostBlanks {
			err = errors.New("the file ends before the list of jobs does: it may be cut off")
		}
		fail(err)
		return workload.Trace{}, errors.Join(found...)
	}
	if !o.Lenient && len(found) > 0 {
		return workload.Trace{}, errors.Join(found...)
	}
	for i := range t.Jobs {
		t.Jobs[i].Arrival -= t.first
	}
	return t.Finish(found), nil
}

// add adds a job of the list.
func (t *jobList) add(line int, p *phillyJob) error {
	for _, w := range t.args.Where {
		value, ok := map[string]string{"status": p.Status, "vc": p.VC, "user": p.User}[w.Name]
		if !ok {
			return fmt.Errorf("where can select by status, vc and user, not by %q", w.Name)
		}
		if !slices.Contains(strings.Split(w.Value, "|"), value) {
			t.Ignored++
			return nil
		}
	}
	j := scheduler.Job{
		Name: p.ID, User: t.Share(p.User), Class: t.Share(p.VC), Deadline: scheduler.Never, Priority: -1, Threads: 1,
	}
	j.Class = cmp.Or(j.Class, t.args.Class)
	if p.ID == "" {
		return errors.New("it has no jobid")
	}
	submitted, ok := phillyTime(p.Submitted)
	if !ok {
		return errors.New("it has no submitted_time")
	}
	j.Arrival = submitted
	run, ran := time.Duration(0), false
	nodes := 1
	for _, a := range p.Attempts {
		start, begun := phillyTime(a.Start)
		end, ended := phillyTime(a.End)
		if !begun || !ended {
			continue
		}
		if end < start {
			return errors.New("an attempt ends before it starts")
		}
		run, ran = run+end-start, true
		j.GPUs, nodes = 0, 0
		for _, d := range a.Detail {
			if len(d.GPUs) > 0 {
				j.GPUs, nodes = j.GPUs+len(d.GPUs), nodes+1
			}
		}
	}
	if !ran {
		return errors.New("it never ran")
	}
	if j.GPUs == 0 {
		return errors.New("the job had no GPUs")
	}
	if most := t.args.GPUsPerNode; most > 0 && j.GPUs > most*nodes {
		return fmt.Errorf("it had %d GPUs on %d nodes, more than %d on one", j.GPUs, nodes, most)
	}
	for nodes > 1 && j.GPUs%nodes != 0 { // find a number of nodes that divides the GPUs evenly
		nodes++
	}
	j.Threads = max(j.GPUs*t.args.ThreadsPerGPU, 1)
	if nodes > 1 {
		j.Nodes = nodes
	}
	t.first = min(t.first, submitted)
	if len(t.Jobs) == 0 {
		t.first = submitted
	}
	return t.Add(line, j, run)
}

func phillyTime(text *string) (time.Duration, bool) {
	if text == nil || len(*text) < 10 {
		return 0, false
	}
	at, err := logs.ParseInstant(*text, time.Second)
	return at, err == nil
}
