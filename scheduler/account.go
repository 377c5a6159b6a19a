package scheduler

import (
	"fmt"
)

// Accounted makes sure that every job has come to an end, and that its waiting and its service make
// up the time from its arrival to its end. Jobs of a run that was closed may be pending.
func Accounted(jobs []Job, results []Result, closed bool) error {
	for i := range results {
		switch r := &results[i]; {
		case r.State == Pending && closed:
		case r.State != Finished && r.State != Failed && r.State != Stopped:
			return fmt.Errorf("job %q is unaccounted for: it is still %s", jobs[i].Name, r.State)
		case r.Waiting+r.Service != r.Finish-jobs[i].Arrival:
			return fmt.Errorf("job %q: waiting %s and service %s do not add up to %s",
				jobs[i].Name, r.Waiting, r.Service, r.Finish-jobs[i].Arrival)
		}
	}
	return nil
}
