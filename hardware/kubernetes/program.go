package kubernetes

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// program is the program of a job, from a start of the job to its pause or end. If a pod is taken away, or restarted
// with another size, another pod runs the same program.
type program struct {
	launch.JobState
	key  programKey
	log  *launch.Log
	news chan struct{} // an element says that the state has changed
	// service is the Service of a job with roles, and host the name of the program in it; empty for other jobs.
	service, host string

	mu sync.Mutex // guards state
	state
}

// state is the part of a program that several goroutines change.
type state struct {
	part    scheduler.Part
	control string    // content of the control file
	start   string    // labelStart of the pod; for an adopted pod, its UID
	pod     *api.Pod  // latest state of the pod; nil before the first
	gone    bool      // the pod was deleted
	at      time.Time // when this pod was first seen, or when it was seen to have ended
	taken   string    // who took its last pod away
	asked   bool      // the program was asked to end
	killed  bool      // its pod is to be ended at once
	adopted bool      // the cluster itself has started its pod
}

// hasPod reports whether there is a pod.
func (s *state) hasPod() bool { return s.pod != nil && !s.gone }

// now returns the present state.
func (p *program) now() state {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// set changes the state.
func (p *program) set(change func(*state)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.state)
	p.nudge()
}

func (p *program) nudge() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// see takes the latest state of the program's pod.
func (p *program) see(pod *api.Pod, gone bool) {
	p.set(func(s *state) {
		if pod.Metadata.Labels[labelStart] != s.start && pod.Metadata.UID != s.start { // the pod is an earlier one
			return
		}
		if s.pod == nil || s.pod.Metadata.UID != pod.Metadata.UID || !s.pod.Over() && pod.Over() {
			s.at = time.Now()
		}
		s.pod, s.gone, s.taken = pod, gone, cmp.Or(pod.Disruption(), s.taken)
	})
}

// hands implements launch.ProgramHands for pods.
type hands struct{ e *Engine }

// Begin opens the log of a program. Attend starts its pod, so that a slow API server delays no other job.
func (h hands) Begin(s launch.JobState, part scheduler.Part, again bool, seen func([]byte), fail func(string)) (
	*program, error,
) {
	s.Job = inImage(s.Job)
	p := &program{JobState: s, key: programKey{job: s.Number}, news: make(chan struct{}, 1)}
	if part.Role != "" {
		h.e.mu.Lock()
		p.service = h.e.services[s.Number]
		h.e.mu.Unlock()
		p.key.part, p.host = launch.PartName(part), hostName(part)
	}
	if len(s.Job.Argv) == 0 {
		return nil, errors.New("the job has no program")
	}
	text, err := s.Job.Content(part.Cores.Count(), 0, s.Before, contract.Message{})
	if err != nil {
		return nil, err
	}
	p.part, p.control = part, string(text)
	if p.log, err = launch.OpenLog(s.Job.LogPath, launch.DefaultLogLimit, again, fail, seen); err != nil {
		return nil, err
	}
	return p, nil
}

// Discard closes the log of a program that is not started.
func (h hands) Discard(p *program) { p.log.Close("another part of the job could not be started") }

// errHold is returned by Hold and GoOn: a pod cannot be stopped in place.
var errHold = errors.New("pods cannot be stopped in place")

// Hold and GoOn always fail: the programs of paused jobs end instead.
func (h hands) Hold([]*program) error { return errHold }
func (h hands) GoOn([]*program) error { return errHold }

// Bind gives a program the cores of a part. Attend then resizes its pod.
func (h hands) Bind(p *program, part scheduler.Part) error {
	p.set(func(s *state) { s.part = part })
	return nil
}

// Write replaces the content of a program's control file, which is an annotation of its pod. Attend passes it on.
func (h hands) Write(p *program, content []byte, _ time.Time) error {
	p.set(func(s *state) { s.control = string(content) })
	return nil
}

// Codes of warnings.
const (
	resizeCode   = "kubernetes_restart"
	evictionCode = "kubernetes_pod_lost"
)

// warn gives a warning about a job.
func (e *Engine) warn(job int, code, text string) {
	if e.warnings != nil {
		e.warnings(job, code, text)
	}
}

// Ask asks programs to end. Attend suspends their Jobs; their pods get SIGTERM, and SIGKILL after the grace.
func (h hands) Ask(programs []*program, _ bool) { h.end(programs, false) }

// Kill ends programs at once.
func (h hands) Kill(programs []*program) { h.end(programs, true) }

func (h hands) end(programs []*program, kill bool) {
	for _, p := range programs {
		p.set(func(s *state) { s.asked, s.killed = true, s.killed || kill })
	}
}

// Attend starts the pod of a program and follows the program to its end.
func (h hands) Attend(p *program) {
	e := h.e
	f := e.execute(p)
	e.mu.Lock()
	delete(e.started, p.start)
	e.mu.Unlock()
	var done *madeJob
	if f.Finished || !p.now().asked || p.service != "" { // other suspended Jobs are reused when their jobs resume
		done = e.detach(p.key)
	}
	e.Exited(p, f.At, f.Finished)
	f.At = time.Time{} // now: the cores are free only when the node has reported the end
	e.Ended(p, f, p.log.Close)
	e.drop(done)
}

// inImage returns a job with the command that it has in its image.
func inImage(j launch.Job) launch.Job {
	if j.ContainerArgv != nil {
		j.Argv = j.ContainerArgv
	}
	return j
}
