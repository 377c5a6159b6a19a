package scheduler

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// ErrStuck is returned when jobs wait, and no future event can let them start.
var ErrStuck = errors.New("the remaining jobs can never start")

// CheckAll returns an error if a job is malformed, or could not start even on an idle cluster. partial says that
// jobs can start with a part of their request.
func CheckAll(c cluster.Cluster, jobs []Job, resizes []Resize, partial bool) error {
	cores := 0
	for _, n := range c.Nodes {
		if n.Threads < 0 || n.GPUs < 0 || n.Memory < 0 {
			return fmt.Errorf("cluster: node %q has a negative capacity", n.Name)
		}
		cores += n.Threads
	}
	if cores == 0 {
		return errors.New("cluster: no node has a core; give a node threads")
	}
	var large shortList
	for i := range jobs {
		j := &jobs[i]
		if err := j.Check(i); err != nil {
			return err
		}
		if err := j.checkAlternatives(partial); err != nil {
			return err
		}
		if !j.CouldRun(c, partial) {
			large.Add(fmt.Sprintf("job %q asks for %s", j.Name, j.Demand()))
		}
	}
	if large.count > 0 {
		return fmt.Errorf("%w: they need more than the cluster has: %s", ErrStuck, large.String())
	}
	for _, z := range resizes {
		if z.Role != "" && z.Job >= 0 && z.Job < len(jobs) && z.At >= 0 {
			if _, err := jobs[z.Job].AskParts(z.Role, z.Parts, c); err != nil {
				return fmt.Errorf("resize: %w", err)
			}
			continue
		}
		if z.Job < 0 || z.Job >= len(jobs) || z.Threads < 1 || z.At < 0 {
			return fmt.Errorf("resize of job number %d to %d threads at %s: there is no such job, or threads or time are too small",
				z.Job, z.Threads, z.At)
		}
		if len(jobs[z.Job].Alternatives()) > 0 {
			return fmt.Errorf("resize of job %q: a job with alternatives cannot be resized",
				jobs[z.Job].Name)
		}
		if len(jobs[z.Job].Roles()) > 0 {
			return fmt.Errorf("resize of job %q: a job with roles is resized by role; name the role", jobs[z.Job].Name)
		}
		if n := jobs[z.Job].Nodes; n > 1 && z.Threads%n != 0 {
			return fmt.Errorf("resize of job %q: %d threads cannot be divided equally over %d nodes",
				jobs[z.Job].Name, z.Threads, n)
		}
	}
	return nil
}

// shortList is a list for an error message. It writes the first items, and the number of the others.
type shortList struct {
	items []string
	count int
}

// Add adds an item.
func (l *shortList) Add(item string) {
	if l.count++; l.count <= most {
		l.items = append(l.items, item)
	}
}

// String joins the items.
func (l *shortList) String() string {
	s := strings.Join(l.items, "; ")
	if more := l.count - len(l.items); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// most is the greatest number of items that a shortList writes.
const most = 8
