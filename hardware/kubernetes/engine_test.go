package kubernetes

import (
	"context"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// warned is a warning about a job.
type warned struct {
	job        int
	code, text string
}

// opened is an engine of a test with its session and the warnings so far.
type opened struct {
	*Engine
	session  engine.Session
	removed  []string
	warnings chan warned
}

// open opens a session in a folder, and an engine for jobs on a hardware. It closes both at the end of the test. Zero
// settings get their defaults.
func open(t testing.TB, dir string, set Settings, nodes []scheduler.Node, jobs ...launch.Job) *opened {
	t.Helper()
	o, err := tryOpen(dir, set, nodes, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		if err := o.session.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

func tryOpen(dir string, set Settings, nodes []scheduler.Node, jobs ...launch.Job) (*opened, error) {
	hw := hardwareOf(set, nodes)
	o := &opened{warnings: make(chan warned, 100)}
	var err error
	if o.session, o.removed, err = Kind.Open(engine.Run{Dir: dir, Hardware: []*engine.Hardware{hw}}); err != nil {
		return nil, err
	}
	e, err := o.session.Engine(context.Background(), engine.Task{Hardware: hw, Cell: "cell/1", Jobs: jobs, Suspends: true,
		Warn: func(job int, code, text string) { o.warnings <- warned{job, code, text} }})
	if err != nil {
		o.session.Close()
		return nil, err
	}
	o.Engine = e.(*Engine)
	return o, nil
}

// hardwareOf returns a hardware with the given settings. Zero settings get their defaults.
func hardwareOf(set Settings, nodes []scheduler.Node) *engine.Hardware {
	if set.Pull == "" {
		set.Pull = "never"
	}
	if set.Grace == 0 {
		set.Grace = 3 * time.Second
	}
	if set.Deadline == 0 {
		set.Deadline = time.Hour
	}
	if set.Patience == 0 {
		set.Patience = 20 * time.Second
	}
	if set.GPUResource == "" {
		set.GPUResource = "nvidia.com/gpu"
	}
	if len(nodes) == 0 {
		nodes = []scheduler.Node{{Threads: 1}}
	}
	return &engine.Hardware{Name: "team", Kind: &Kind, Cluster: scheduler.Cluster{Nodes: nodes}, Settings: &set,
		Suspends: true, Place: "test.hcl line 1"}
}

// next waits for the next notice that a job has ended.
func (o *opened) next(t testing.TB, within time.Duration) scheduler.Notice {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		_, news, err := o.Next(ctx, scheduler.Never)
		if err != nil {
			t.Fatalf("no job has ended within %s: %v", within, err)
		}
		for _, n := range news {
			if n.Kind == scheduler.JobEnded {
				return n
			}
		}
	}
}

// grant returns a grant of a number of cores, from the core first on.
func grant(first, cores int32) scheduler.Grant {
	return scheduler.Grant{Cores: scheduler.CoreSet{{Lo: first, Hi: first + cores}}}
}
