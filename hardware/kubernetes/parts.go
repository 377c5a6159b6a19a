package kubernetes

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	placed "github.com/tfexp/tfexp/scheduler/cluster"
)

// A job with roles has one Job for each part, so that each part has its own size and node. The pods get their addresses
// only when they start, but each program needs all addresses before that. So the addresses are names: a Service without
// an address of its own gives each pod the name HOST.SERVICE, which the DNS server of the cluster resolves.

// partPort is the port on which each part listens. Each pod has its own network address, so that all may use the same.
const partPort = 2222

// Addresses implements launch.ProgramHands. The Service is created when the leading part starts.
func (h hands) Addresses(job int, parts []scheduler.Part, known contract.Cluster) (contract.Cluster, error) {
	e := h.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if known == nil {
		e.services[job] = objectPrefix + e.newStart()
	}
	addresses := contract.Cluster{}
	for _, p := range parts {
		for len(addresses[p.Role]) <= p.Task {
			addresses[p.Role] = append(addresses[p.Role], "")
		}
		addresses[p.Role][p.Task] = fmt.Sprintf("%s.%s:%d", hostName(p), e.services[job], partPort)
	}
	return addresses, nil
}

// hostName returns the name of a part as a host name. Different roles have different names.
func hostName(p scheduler.Part) string {
	return fmt.Sprintf("%s-%d", withHash(ObjectName(p.Role), p.Role), p.Task)
}

// serve creates the Service of a job with roles. It is deleted with o, the Job of the leading part.
func (e *Engine) serve(p *program, o *madeJob) error {
	return e.Create(e.ctx, "services", tree{"apiVersion": "v1", "kind": "Service",
		"metadata": api.Meta{Name: p.service, Labels: e.labels(&p.Job), Owners: ownedBy(o)},
		"spec": tree{"clusterIP": "None", "selector": map[string]string{labelService: p.service},
			"publishNotReadyAddresses": true}, // parts look for each other before they are ready
	}, nil)
}

// partLost reports whether the program is a part whose pod was taken away, and its job cannot go on without the part.
func (l *podLife) partLost(now state) bool {
	pod := now.pod
	if l.p.service == "" || pod == nil {
		return false
	}
	deleted, replaced := now.gone && !pod.Over(), l.seen != "" && l.seen != pod.Metadata.UID
	if pod.Disruption() == "" && !deleted && !replaced {
		return false
	}
	return l.p.Lead || !l.p.Job.Spares(now.part.Role)
}

// renew makes all parts of a job save their work and end, and starts them again: they have lost their connections to a
// part. It returns false if it has done so too often. It does nothing if the job is to end or to pause.
func (e *Engine) renew(p *program, why string) bool {
	for !e.turn.TryLock() { // the scheduler may wait for the end of p
		if p.now().asked {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	defer e.turn.Unlock()
	if p.now().asked {
		return true
	}
	if e.renewals[p.Number]++; e.renewals[p.Number] > mostLost {
		return false
	}
	e.warn(p.Number, evictionCode, p.key.part+": "+why+"; all parts of the job start again from "+e.resumePoint())
	var parts []scheduler.Part
	for _, q := range e.Programs(p.Number) {
		parts = append(parts, e.Part(q))
	}
	_ = e.Jobs.Pause(p.Number) // it fails only when the engine is closed
	done := make(chan struct{})
	e.renewing[p.Number] = done
	e.calls.Go(func() {
		defer close(done)
		if err := e.move(p); err != nil {
			e.Break(Unavailable(err))
		}
		_ = e.Jobs.Resume(p.Number, scheduler.Grant{Layout: &placed.Layout{Parts: parts}})
	})
	return true
}

// act waits for the end of a job's renewal, so that the scheduler can act on the job. The caller calls end afterwards.
func (e *Engine) act(job int) (end func()) {
	for {
		e.turn.Lock()
		done := e.renewing[job]
		if done == nil {
			return e.turn.Unlock
		}
		delete(e.renewing, job)
		e.turn.Unlock()
		<-done
	}
}

// Pause, Resume, Resize, Reshape, Migrate and Stop implement scheduler.Engine and scheduler.Migrator.
func (e *Engine) Pause(job int) error {
	defer e.act(job)()
	return e.Jobs.Pause(job)
}

func (e *Engine) Resume(job int, g scheduler.Grant) error {
	defer e.act(job)()
	return e.Jobs.Resume(job, g)
}

func (e *Engine) Resize(job int, g scheduler.Grant) error {
	defer e.act(job)()
	return e.Jobs.Resize(job, g)
}

func (e *Engine) Reshape(job int, g scheduler.Grant) error {
	defer e.act(job)()
	return e.Jobs.Reshape(job, g)
}

func (e *Engine) Migrate(job int, g scheduler.Grant) error { return e.Resize(job, g) }

func (e *Engine) Stop(job int) error {
	defer e.act(job)()
	return e.Jobs.Stop(job)
}
