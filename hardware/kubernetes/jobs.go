package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/hardware/launch"
)

// programKey identifies a program: by the number of its job and, if the job has roles, by the name of the part.
type programKey struct {
	job  int
	part string
}

// madeJob is the Job of the cluster for a program.
type madeJob struct {
	name, uid string
	shape     string // of its pod template; a Job is reused only for an equal template
}

// release starts a pod of a program on its node. It reuses the suspended Job of the program if its pod template is
// equal. Otherwise it creates a Job.
func (e *Engine) release(p *program) error {
	if ok, err := e.adopt(p); ok {
		return err
	}
	now := p.now()
	start := e.newStart()
	e.mu.Lock()
	old, node := e.objects[p.key], e.nodes[now.part.Node]
	delete(e.started, now.start)
	e.started[start] = p
	e.mu.Unlock()
	p.set(func(s *state) { s.start, s.pod, s.gone = start, nil, false })
	t, err := e.template(&p.Job, now.part, start, now.control)
	if err != nil {
		return err
	}
	place := onNodes(node)
	if p.service != "" {
		t.spec["hostname"], t.spec["subdomain"], t.meta.Labels[labelService] = p.host, p.service, p.service
	}
	if old != nil && old.shape == t.shape {
		if ok, err := e.reuse(old, t, place); ok || err != nil {
			return err
		}
	}
	t.spec["affinity"] = place
	o, err := e.create(p.key, &p.Job, t, "")
	if err == nil && p.service != "" && p.Lead {
		err = e.serve(p, o)
	}
	if err == nil {
		_, err = e.patchJob(o.name, tree{"suspend": false})
	}
	return err
}

// newStart returns the value of labelStart for the next pod of a program.
func (e *Engine) newStart() string { return fmt.Sprintf("%s-%d", e.id, e.starts.Add(1)) }

// reuse resumes a suspended Job on a node. It returns false if the pod template of the Job cannot be changed any more,
// or if the Job has failed.
func (e *Engine) reuse(o *madeJob, t *podTemplate, place tree) (ok bool, err error) {
	now, err := e.patchJob(o.name, tree{"suspend": false,
		"template": tree{"metadata": t.meta, "spec": tree{"affinity": place}}})
	if api.Refused(err, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity) {
		return false, nil
	}
	return err == nil && now.Status.Conditions.True("Failed") == nil, err
}

// create creates a suspended Job for a program in place of its earlier Job. queue is a LocalQueue of Kueue; empty for
// none.
func (e *Engine) create(key programKey, j *launch.Job, t *podTemplate, queue string) (*madeJob, error) {
	e.discard(key)
	if err := e.keep(t, j); err != nil {
		return nil, err
	}
	m := api.Meta{Name: t.objectName() + "-" + ObjectName(j.Name), Labels: e.labels(j),
		Annotations: map[string]string{AnnotationFolder: e.folder}}
	if queue != "" {
		m.Labels[api.QueueLabel] = queue
	}
	var made api.Job
	err := e.Create(e.ctx, "jobs", tree{"apiVersion": api.BatchGroup, "kind": "Job", "metadata": m,
		"spec": tree{"suspend": true, "backoffLimit": 0, "activeDeadlineSeconds": seconds(e.set.Deadline),
			"template": tree{"metadata": t.meta, "spec": t.spec}}}, &made)
	if err == nil && made.Metadata.UID == "" { // a repeated call has no answer
		err = e.Get(e.ctx, "jobs", m.Name, &made)
	}
	if err != nil {
		return nil, err
	}
	o := &madeJob{name: m.Name, uid: made.Metadata.UID, shape: t.shape}
	e.mu.Lock()
	e.objects[key] = o
	e.mu.Unlock()
	if t.hidden != nil {
		err = e.Patch(e.ctx, "secrets", t.objectName(), tree{"metadata": api.Meta{Owners: ownedBy(o)}}, nil)
	}
	return o, err
}

// ownedBy returns the owner of objects that are to be deleted with a Job.
func ownedBy(o *madeJob) []api.Owner {
	return []api.Owner{{APIVersion: api.BatchGroup, Kind: "Job", Name: o.name, UID: o.uid}}
}

// keep creates the Secret of a program; none if it has no sensitive values.
func (e *Engine) keep(t *podTemplate, j *launch.Job) error {
	if t.hidden == nil {
		return nil
	}
	shown, err := secret.Reveal(t.hidden)
	if err != nil {
		return err
	}
	values := map[string]string{}
	for i, text := range shown {
		values[strconv.Itoa(i)] = text
	}
	return e.Create(e.ctx, "secrets", tree{"apiVersion": "v1", "kind": "Secret",
		"metadata": api.Meta{Name: t.objectName(), Labels: e.labels(j)}, "stringData": values}, nil)
}

// patchJob changes fields of the specification of a Job.
func (e *Engine) patchJob(name string, spec tree) (now api.Job, err error) {
	err = e.Patch(e.ctx, "jobs", name, tree{"spec": spec}, &now)
	return now, err
}

// object returns the Job of a program, or nil.
func (e *Engine) object(key programKey) *madeJob {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.objects[key]
}

// suspend suspends the Job of a program: the cluster then ends its pod.
func (e *Engine) suspend(key programKey) error {
	o := e.object(key)
	if o == nil {
		return nil
	}
	_, err := e.patchJob(o.name, tree{"suspend": true})
	return api.Except(err, http.StatusNotFound, http.StatusUnprocessableEntity) // the Job is deleted, or has ended
}

// read reads the Job of a program from the cluster; nil if it is deleted.
func (e *Engine) read(key programKey) (*api.Job, error) {
	o, now := e.object(key), &api.Job{}
	if o == nil {
		return nil, nil
	}
	err := e.Get(e.ctx, "jobs", o.name, now)
	if api.Refused(err, 404) {
		return nil, nil
	}
	return now, err
}

// suspended reports whether the Job of a program is suspended and has no pod.
func (e *Engine) suspended(key programKey) (bool, error) {
	now, err := e.read(key)
	return err == nil && (now == nil || now.Status.Active == 0 && now.Status.Conditions.True("Suspended") != nil), err
}

// expired reports whether the Job of a program has reached its deadline.
func (e *Engine) expired(key programKey) bool {
	now, _ := e.read(key) // without an answer, the Job has no conditions
	return now != nil && slices.ContainsFunc(now.Status.Conditions, func(c api.Condition) bool {
		return c.Status == "True" && c.Reason == "DeadlineExceeded"
	})
}

// detach removes the Job of a program from the engine's list, and returns it; nil if there is none.
func (e *Engine) detach(key programKey) *madeJob {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.objects[key]
	delete(e.objects, key)
	return o
}

// drop deletes a Job from the cluster; nil is ignored. If the call fails, Close deletes the Job.
func (e *Engine) drop(o *madeJob) {
	if o == nil {
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, closePatience)
	defer cancel()
	_ = e.Delete(ctx, "jobs", o.name)
}

// discard deletes the Job of a program.
func (e *Engine) discard(key programKey) { e.drop(e.detach(key)) }
