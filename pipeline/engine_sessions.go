package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/pipeline/store"
)

// planLimit bounds how long planning waits for engines. Fetching images is not bounded.
const planLimit = 30 * time.Second

// findImages looks up the images of the jobs. A missing image is an error only when a cell must run: see Ready.
func (p *Plan) findImages() {
	ctx := context.Background()
	if !p.options.Fetch {
		limited, cancel := context.WithTimeout(ctx, planLimit)
		defer cancel()
		ctx = limited
	}
	p.unavailable = p.x.FindImages(ctx, p.options.Fetch)
}

// Ready returns an *engine.Unavailable if a cell must run on an engine that lacks something.
func (p *Plan) Ready() error {
	var missing *engine.Unavailable
	if !errors.As(p.unavailable, &missing) {
		return nil
	}
	for i, w := range p.Work {
		if !w.Reuse && p.Cells[i].Engine == missing.Engine {
			return missing
		}
	}
	return nil
}

// openSites opens the real engines. They end jobs that killed runs of this experiment, or of another one in the same
// folder of results, have left.
func (r *run) openSites() (removed, doubts []string, err error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return nil, nil, err
	}
	r.sites = map[*engine.Kind]engine.Session{}
	lock := func(dir string) (func(), bool) {
		l, err := store.LockFolder(dir, r.options.Command)
		if err != nil {
			return nil, false
		}
		return l.Release, true
	}
	for _, kind := range engine.Kinds() {
		if !kind.Real {
			continue
		}
		site, gone, err := kind.Open(engine.Run{Dir: dir, Hardware: r.x.Hardware(kind), Lock: lock, GPUs: r.gpuDevices,
			Warn: func(text string) { doubts = append(doubts, text) }})
		removed = append(removed, gone...)
		if err != nil {
			return removed, doubts, errors.Join(fmt.Errorf("open the engine %s: %w", kind.Name, err), r.closeSites())
		}
		r.sites[kind] = site
	}
	return removed, doubts, nil
}

// closeSites closes the engines that openSites opened.
func (r *run) closeSites() error {
	var errs []error
	for _, kind := range slices.Backward(engine.Kinds()) {
		if site := r.sites[kind]; site != nil {
			errs = append(errs, site.Close())
		}
	}
	r.sites = nil
	return errors.Join(errs...)
}

// gpuDevices returns the GPUs that real cells use. GPU i of the cluster is element i.
func (p *Plan) gpuDevices() ([]gpu.Device, error) {
	if p.options.GPUs == nil {
		return hardware.GPUs()
	}
	return p.options.GPUs.Devices()
}

// Site implements stages.Run.
func (r *run) Site(kind string) engine.Session { return r.sites[engine.Find(kind)] }
