package instantiate

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// manyJobs equals experiment.ManyJobs; tests set it lower.
var manyJobs = experiment.ManyJobs

// drawn are the jobs of a workload with one submit block, drawn on demand, one page of jobs at a time. A page is
// drawn from the states of the random streams at its beginning, which are stored. drawn implements scheduler.Drawn.
type drawn struct {
	*drawing
	// estimate returns the prediction of a job whose true run time is alone. It is nil if the prediction is the
	// predicted run time in the page.
	estimate func(j *scheduler.Job, alone time.Duration) time.Duration
	// factor returns the noise factor of a job's run time; nil if there is no noise.
	factor func(name string) float64
	recent [recentPages]atomic.Pointer[jobPage]
}

// recentPages is the number of pages kept in memory. They hold more jobs than are usually active in a cell, so that
// few pages are drawn twice.
const recentPages = 256

// drawing holds the data that all cells with the same submit block share.
type drawing struct {
	block    *experiment.Job
	template scheduler.Job
	work     simulated.Scaling // work of a job whose epoch takes a nanosecond
	arrivals workload.Arrivals
	count    int
	pages    []streams // states before the first job of each page
	digest   string
}

// streams are the states of the random streams before a job, and the arrival of the previous job.
type streams struct {
	at               time.Duration
	arrivals, epochs rand.PCG
}

// jobPage is a sequence of jobs with all random values drawn for them.
type jobPage struct {
	number int
	jobs   scheduler.JobPage
	// Of each job: the scaled part of its work, the run time by the fitted estimate, and the true run time.
	scaled, predicted, alone [scheduler.PageSize]time.Duration
}

// newDrawing prepares drawing the jobs of a submit block on demand. It draws them all once to compute their hash.
func newDrawing(w *experiment.Workload, seed int64) (*drawing, error) {
	s := &w.Submits[0]
	d := &drawing{block: s.Job, template: templateOf(s), arrivals: s.Arrivals, count: s.Count}
	d.template.Deadline, d.work = scheduler.Never, givenWork(s.Job, 1)
	now := streams{at: s.Arrivals.Start, arrivals: *workload.Source(seed, workload.ArrivalsPath(w.Name, 0)...),
		epochs: *workload.Source(seed, epochsPath(w, 0)...)}
	h := sha256.New()
	var line []byte
	name := d.names(0)
	all := newSeries(d, &now)
	for i := range d.count {
		if i%scheduler.PageSize == 0 {
			d.pages = append(d.pages, now)
			h.Write(line)
			line = line[:0]
		}
		epoch, err := all.next(i)
		if err != nil {
			return nil, workload.SubmitError(w.Name, 0, err)
		}
		line = appendDrawn(append(line, name.next()...), now.at, scheduler.Never, epoch)
	}
	h.Write(line)
	d.digest = hex.EncodeToString(h.Sum(nil))
	return d, nil
}

// drawLater is like draw, but its jobs are drawn on demand.
func drawLater(w *experiment.Workload, seed int64) (jobList, error) {
	d, err := newDrawing(w, seed)
	if err != nil {
		return jobList{}, err
	}
	return jobList{drawing: d, Blocks: []*experiment.Job{d.block}, Digest: d.digest}, nil
}

// series draws the jobs of a submit block one after the other.
type series struct {
	*drawing
	*streams
	gaps, lengths *rand.Rand
}

func newSeries(d *drawing, at *streams) series {
	return series{d, at, rand.New(&at.arrivals), rand.New(&at.epochs)}
}

// next draws job i: it sets d.at to the job's arrival and returns its epoch time.
func (d *series) next(i int) (epoch time.Duration, err error) {
	if d.at, err = d.drawing.arrivals.Next(d.at, i, d.count, d.gaps); err != nil {
		return 0, err
	}
	if d.block.Runtime.Epoch.Fixed() {
		return notDrawn, nil
	}
	return d.block.Runtime.Epoch.Draw(d.lengths), nil
}

// names generates the names of consecutive jobs: the class and a number, from 1.
type names struct {
	text   []byte // the last name returned
	digits int    // index in text where the number begins
}

// names returns a generator of names that begins with a job's name.
func (d *drawing) names(job int) names {
	text := append([]byte(d.template.Class), '-')
	return names{strconv.AppendInt(text, int64(job), 10), len(text)}
}

// next returns the next name. The slice is valid until the next call.
func (n *names) next() []byte {
	i := len(n.text) - 1
	for ; i >= n.digits && n.text[i] == '9'; i-- {
		n.text[i] = '0'
	}
	if i >= n.digits {
		n.text[i]++
	} else { // all digits were 9
		n.text = append(n.text, '0')
		n.text[n.digits] = '1'
	}
	return n.text
}

// page returns the page with the given number.
func (d *drawn) page(number int) *jobPage {
	kept := &d.recent[number%recentPages]
	if p := kept.Load(); p != nil && p.number == number {
		return p
	}
	p := d.drawPage(number)
	kept.Store(p)
	return p
}

func (d *drawn) drawPage(number int) *jobPage {
	p, now := &jobPage{number: number}, d.pages[number]
	first := number * scheduler.PageSize
	all, n := newSeries(d.drawing, &now), min(scheduler.PageSize, d.count-first)
	work, name := d.work, d.names(first)
	var names strings.Builder // all names of the page, one after the other
	names.Grow(n * (len(name.text) + 1))
	for i := range n {
		epoch, _ := all.next(first + i) // no error: the same job was drawn for the hash
		if epoch == notDrawn {
			epoch = d.block.Runtime.Epoch.Mean
		}
		j, threads := &p.jobs[i], d.block.Threads.Request
		*j = d.template
		begin := names.Len()
		names.Write(name.next())
		j.Number, j.Name, j.Arrival = first+i, names.String()[begin:], now.at
		work.Scaled = d.work.Scaled * epoch
		p.scaled[i], p.predicted[i] = work.Scaled, work.RunTime(threads)
		if p.alone[i] = p.predicted[i]; d.factor != nil {
			p.alone[i] = time.Duration(float64(p.alone[i]) * d.factor(j.Name))
		}
		if j.Predicted = p.predicted[i]; d.estimate != nil {
			j.Predicted = d.estimate(j, p.alone[i])
		}
	}
	return p
}

// Len implements scheduler.Drawn.
func (d *drawn) Len() int { return d.count }

// Page implements scheduler.Drawn.
func (d *drawn) Page(number int) *scheduler.JobPage { return &d.page(number).jobs }

// Requests implements scheduler.Drawn.
func (d *drawn) Requests() []scheduler.Job {
	j := d.template
	first := d.names(0)
	j.Name = string(first.next())
	return []scheduler.Job{j}
}

// pageReader finds the pages of jobs. It is for one goroutine.
type pageReader struct {
	*drawn
	last *jobPage
}

// of returns the page of a job, and the job's index in the page.
func (r *pageReader) of(job int) (p *jobPage, place uint) {
	number, place := uint(job)/scheduler.PageSize, uint(job)%scheduler.PageSize
	if r.last == nil || uint(r.last.number) != number {
		r.last = r.page(int(number))
	}
	return r.last, place
}

// workOf returns a function that returns the work of a job. Its result is valid until the next call.
func (d *drawn) workOf() func(job int) simulated.Work {
	pages, work := pageReader{drawn: d}, d.work
	return func(job int) simulated.Work {
		p, i := pages.of(job)
		work.Scaled = p.scaled[i]
		return &work
	}
}

// timesOf returns a function that returns a job's predicted and true run time.
func (d *drawn) timesOf() func(job int) (predicted, alone time.Duration) {
	pages := pageReader{drawn: d}
	return func(job int) (predicted, alone time.Duration) {
		p, i := pages.of(job)
		return p.predicted[i], p.alone[i]
	}
}

// draws reports whether the jobs of the cell are drawn on demand.
func (c *Cell) draws() bool {
	return c.Workload.Jobs() >= manyJobs && c.point.Draws()
}

// drawnTask returns the task of a cell whose jobs are drawn on demand.
func (c *Cell) drawnTask(r jobList, dirs stages.Folders) stages.Task {
	task, opts := c.task(r, simulatedFacts{}), c.simulatorOptions()
	d := &drawn{drawing: r.drawing}
	if opts.Noise > 0 {
		d.factor = opts.Factor
	}
	if c.Policy.EstimatesOn(c.Hardware) {
		d.estimate = func(j *scheduler.Job, alone time.Duration) time.Duration {
			return c.estimate(j, false, r.Blocks[0], j.Predicted, alone, nil)
		}
	}
	task.Folders = dirs
	task.Setup.Predicted, task.Setup.Drawn, task.Setup.Times = nil, d, d.timesOf()
	task.Simulation = &stages.Simulation{Options: opts, DrawnWork: d.workOf()}
	return task
}
