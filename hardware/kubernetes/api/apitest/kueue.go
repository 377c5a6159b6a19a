package apitest

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
)

// StartKueue acts as Kueue with one queue that admits at most a number of Jobs, in order of arrival. An evicted Job goes to
// the end of the queue.
func (f *Cluster) StartKueue(t *testing.T, name string, most int) (evict func()) {
	f.mu.Lock()
	f.Groups = map[string]string{"kueue.x-k8s.io": "kueue.x-k8s.io/v1beta2"}
	f.put("ADDED", "localqueues", tree{"metadata": tree{"name": name, "namespace": "research"}})
	f.mu.Unlock()
	say := func(job tree, conditions ...any) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.put("ADDED", "workloads", tree{"metadata": tree{"name": Meta(job)["name"], "namespace": "research",
			"labels": tree{"kueue.x-k8s.io/job-uid": Meta(job)["uid"]}}, "status": tree{"conditions": conditions}})
	}
	suspend := func(job tree, is bool) {
		f.Change("jobs", "research", Meta(job)["name"].(string), func(o tree) { Child(o, "spec")["suspend"] = is })
	}
	evictions := make(chan bool)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case <-evictions:
				for _, job := range f.All("jobs") {
					if Child(job, "spec")["suspend"] == false {
						say(job, tree{"type": "Evicted", "status": "True", "reason": "Preempted",
							"message": "due to reclamation within the cohort"})
						suspend(job, true)
					}
				}
				time.Sleep(300 * time.Millisecond)
			case <-tick.C:
				var waiting []tree
				running := 0
				for _, job := range f.All("jobs") {
					if Child(Meta(job), "labels")[api.QueueLabel] != name {
						continue
					}
					if Child(job, "spec")["suspend"] == false {
						if !conditionOf(Child(job, "status"), "Complete") {
							running++
						}
						continue
					}
					waiting = append(waiting, job)
				}
				for i, job := range waiting {
					if running+i < most {
						say(job, tree{"type": "QuotaReserved", "status": "True"})
						suspend(job, false)
					} else {
						say(job, tree{"type": "QuotaReserved", "status": "False", "reason": "Pending",
							"message": "insufficient unused quota for cpu"})
					}
				}
			}
		}
	}()
	return func() { evictions <- true }
}
