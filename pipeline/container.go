package pipeline

import (
	"context"
	"errors"
	"fmt"
	"github.com/tfexp/tfexp/stages"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/pipeline/realise"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/docker"
	"github.com/tfexp/tfexp/hardware/docker/daemon"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/execute"
	"github.com/tfexp/tfexp/stages/profile"
)

// planLimit bounds how long planning waits for daemons; fetching images takes
// as long as it takes.
const planLimit = 30 * time.Second

// findImages asks the daemons for the images of the jobs, whose IDs are part
// of the keys. What is not there is told by dockerReady when something runs.
func (p *Plan) findImages() {
	ctx := context.Background()
	if !p.options.Fetch {
		limited, cancel := context.WithTimeout(ctx, planLimit)
		defer cancel()
		ctx = limited
	}
	type at struct{ host, image, platform string }
	found := map[at]string{}
	hosts := map[string]*daemon.Host{}
	broken := map[string]bool{}
	defer func() {
		for _, h := range hosts {
			h.Close()
		}
	}()
	// In the order of the file, so that what is told first is always the same.
	p.x.EachContainer(func(j *experiments.Job, in *realise.Contained) {
		if in.Images != nil {
			return
		}
		d := in.On.Docker
		in.Images = make([]string, len(d.Hosts))
		for n, url := range d.Hosts {
			if broken[url] {
				continue
			}
			h, ok := hosts[url]
			if !ok {
				var err error
				if h, err = daemon.Connect(ctx, url); err != nil {
					broken[url] = true
					p.lacks(err)
					continue
				}
				hosts[url] = h
			}
			if threads := in.On.Cluster.Nodes[n].Threads; threads > h.CPUs {
				p.lacks(&daemon.Error{Host: h.URL, Text: fmt.Sprintf("its machine has %s, but the hardware %q says %d", plural(h.CPUs, "CPU"), in.On.Name, threads),
					Hint: fmt.Sprintf("write threads = %d at most, in %s line %d", h.CPUs, in.On.Range.File, in.On.Range.Start.Line)})
			}
			id := at{url, j.Container.Image, d.Platform}
			if _, ok := found[id]; !ok {
				pull := daemon.Pull(d.Pull)
				if !p.options.Fetch {
					pull = daemon.PullNever
				}
				image, err := h.Image(ctx, j.Container.Image, pull, d.Platform)
				if err != nil {
					p.lacks(err)
				}
				found[id] = image
			}
			in.Images[n] = found[id]
		}
	})
}

// lacks notes the first thing that is missing.
func (p *Plan) lacks(err error) {
	if p.unavailable != nil {
		return
	}
	e := &EngineError{Engine: engineDocker, Err: err}
	var own *daemon.Error
	if errors.As(err, &own) {
		e.Hint = own.Hint
	}
	p.unavailable = e
}

// dockerReady returns an *EngineError when something is to run in containers
// and a daemon or an image for it is missing.
func (p *Plan) dockerReady() error {
	if p.unavailable == nil {
		return nil
	}
	for i, w := range p.Work {
		if !w.Reuse && p.Cells[i].Engine == engineDocker {
			return p.unavailable
		}
	}
	return nil
}

// containerEngine makes an engine on the hosts of a hardware. The error is an
// *EngineError when one of them has gone and does not come back.
func (r *run) containerEngine(ctx context.Context, h *experiments.Hardware, cell string, jobs []launch.Job, opts docker.Options) (*docker.Engine, error) {
	opts.Folder, opts.Cell, opts.Quota = r.label(), cell, h.Docker.CPUs == "quota"
	opts.Network, opts.User, opts.Platform = h.Docker.Network, h.Docker.User, h.Docker.Platform
	opts.Privileges = docker.Privileges(h.Docker.Privileges)
	var nodes []docker.Node
	for i, url := range h.Docker.Hosts {
		host := r.hosts[url]
		if host == nil {
			return nil, &EngineError{Engine: engineDocker, Err: fmt.Errorf("no daemon answers at %q", url), Hint: "tfexp doctor tells why"}
		}
		if !host.ComeBack(ctx, docker.DefaultPatience) && ctx.Err() == nil {
			return nil, &EngineError{Engine: engineDocker, Err: fmt.Errorf("the daemon at %s went away and did not come back", host.URL),
				Hint: "start it again (sudo systemctl start docker); tfexp resume then goes on"}
		}
		n := h.Cluster.Nodes[i]
		nodes = append(nodes, docker.Node{Host: host, CPUs: cpusOf(host, n.Threads), GPUs: r.gpusOf(host, n.GPUs)})
	}
	if opts.User == "" && r.local(h) {
		opts.User = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	return docker.New(jobs, nodes, opts)
}

// local says whether all daemons of a hardware are this machine's.
func (r *run) local(h *experiments.Hardware) bool {
	return !slices.ContainsFunc(h.Docker.Hosts, func(url string) bool { return r.hosts[url] == nil || !r.hosts[url].Local() })
}

// gpusOf is how a daemon is told of the GPUs that are used: on this machine
// those that tfexp may use itself, by their UUIDs; elsewhere by their indices.
func (r *run) gpusOf(h *daemon.Host, n int) []string {
	if n == 0 {
		return nil
	}
	if h.Local() {
		if devices, err := r.gpuDevices(); err == nil && len(devices) >= n {
			return gpu.IDs(devices[:n])
		}
	}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	return ids
}

// cpusOf are the CPUs of a daemon's machine that are used: on this machine
// those that tfexp may use itself.
func cpusOf(h *daemon.Host, threads int) []int {
	if allowed := hardware.AllowedCPUs(); h.Local() && len(allowed) >= threads {
		return allowed[:threads]
	}
	cpus := make([]int, threads)
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

// sampleEngine makes the engine of a sample; nil for a job that is no container.
func (r *run) sampleEngine(ctx context.Context, u *realise.Unit, program launch.Job) func() (profile.Engine, error) {
	in := u.Container()
	if in == nil {
		return nil
	}
	return func() (profile.Engine, error) {
		return r.containerEngine(ctx, in.On, "samples", []launch.Job{program}, docker.Options{})
	}
}

// inContainers carries out a cell on the engine docker.
func (e *run) inContainers(ctx context.Context, c *realise.Cell, task stages.Task, jobs []launch.Job) (record.Cell, error) {
	tables, err := openLive(task, task.Setup.Jobs, true)
	if err != nil {
		return record.Cell{}, err
	}
	engine, err := e.containerEngine(ctx, c.Hardware, c.Ref.Cell, jobs, docker.Options{Observe: tables.observe(), Report: tables.report()})
	if err != nil {
		return record.Cell{}, errors.Join(err, tables.close(nil))
	}
	watch := &gpuWatch{}
	if e.local(c.Hardware) {
		if watch, err = e.watchGPUs(task, engine.Zero()); err != nil {
			return record.Cell{}, errors.Join(err, engine.Close(), tables.close(nil))
		}
	}
	defer watch.abort()
	task.Engine = engine
	var closed error
	task.Finally = func(out *record.Cell) {
		watch.finish(out)
		closed = errors.Join(engine.Close(), tables.close(out))
	}
	out, err := execute.Run(ctx, task)
	return out, errors.Join(err, closed, engine.Close(), tables.close(nil))
}
