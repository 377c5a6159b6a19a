package batch

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Periodic is the backfill policy that checks the queue and runs rounds of backfill at separate intervals, as Slurm
// does.
const Periodic policy.Backfill = "periodic"

// periodicArgs are the arguments of the backfill.
type periodicArgs struct {
	// How many waiting jobs the scheduler checks when a job arrives or ends.
	//
	//	queue_depth = 50
	Depth int `arg:"queue_depth" default:"100" min:"0" max:"jobs"`
	// How often the scheduler checks all waiting jobs.
	//
	//	queue_interval = "20s"
	Interval time.Duration `arg:"queue_interval,positive" least:"1s" default:"1m"`
	// The shortest time between two checks of the queue after submissions.
	//
	//	submit_delay = "1s"
	Delay time.Duration `arg:"submit_delay" default:"3s"`
	// The times at which the scheduler checks the queue, from a controller's log, instead of periods. The times count
	// from the first arrival, in their order: `look` checks up to `queue_depth` jobs, `all` checks all jobs, and
	// backfill runs at the others.
	//
	// Default: periods.
	//
	//	instants = ["look 2.7s", "backfill 2.9s", "all 20.1s"]
	Instants []string `arg:"instants"`
	// The time between two rounds of backfill. Each makes reservations for all jobs that it looks at, in their order, and
	// forgets those of the round before.
	//
	//	backfill_interval = "5s"
	Round time.Duration `arg:"backfill_interval,positive" least:"1s" default:"30s"`
	// How far a round of backfill plans ahead.
	//
	//	backfill_window = "48h"
	Window time.Duration `arg:"backfill_window,positive" default:"24h"`
	// The time to whose multiples the times of reservations are rounded.
	//
	//	backfill_resolution = "5m"
	Resolution time.Duration `arg:"backfill_resolution,positive" least:"1s" default:"1m"`
	// The most jobs that a round of backfill checks.
	//
	//	backfill_depth = 1000
	Jobs int `arg:"backfill_depth" default:"500" min:"1" max:"jobs"`
	// The most jobs of one partition that a round of backfill checks; `0` means no bound.
	//
	//	backfill_depth_partition = 200
	PerPartition int `arg:"backfill_depth_partition" default:"0" min:"0" max:"jobs"`
	// The most jobs of one user that a round of backfill checks; `0` means no bound.
	//
	//	backfill_depth_user = 20
	PerUser int `arg:"backfill_depth_user" default:"0" min:"0" max:"jobs"`
	// The most jobs that a round of backfill starts; `0` means no bound.
	//
	//	backfill_starts = 50
	Starts int `arg:"backfill_starts" default:"0" min:"0" max:"jobs"`
	// The time within which ends of running jobs count as one end, for a reservation. The first group lasts for this
	// time from the next multiple of it after the first end. The time doubles with each group.
	//
	//	backfill_grouping = "30s"
	Grouping time.Duration `arg:"backfill_grouping,positive" default:"30s"`
	// Which running jobs are preempted for a job that cannot start: by `qos`, or jobs of a `partition` of a lower tier.
	//
	//	preemption_by = "qos"
	PreemptionBy string `arg:"preemption_by" default:"none" allowed:"none qos partition"`
	// What happens to preempted jobs: they wait again with all their work (`requeue`), end (`cancel`), or are paused
	// (`suspend`).
	//
	//	preempt_mode = "cancel"
	PreemptMode string `arg:"preempt_mode" default:"requeue" allowed:"off requeue cancel suspend"`
	// The time after a preemption in which the same job preempts no other jobs.
	//
	//	preempt_again = "40s"
	Again time.Duration `arg:"preempt_again" default:"0s"`
	// The shortest time that a requeued job waits after its nodes are released.
	//
	//	requeue_delay = "1m"
	RequeueDelay time.Duration `arg:"requeue_delay" default:"2m"`
	// How long a job may run beyond its time limit.
	//
	//	over_limit = "5m"
	OverLimit time.Duration `arg:"over_limit" default:"30s"`
	// Whether the scheduler checks the queue as soon as a job ends. Otherwise the look comes as for jobs that have
	// come.
	//
	//	look_at_ends = false
	AtEnds bool `arg:"look_at_ends" default:"true"`
	// How long the nodes of an ended job take no other jobs, while the job is cleaned up.
	//
	//	release = "1s"
	Release time.Duration `arg:"release" default:"0s"`
	// Whether the log has only whole seconds, so that the drawn part of a second is added to its run times.
	//
	// The recorded run times are then up to a second too short or too long, and whole multiples of the time between two
	// checks: checks would find each ended job at once. Each job whose run time is drawn as longer keeps its nodes for
	// this part of a second.
	//
	//	whole_seconds = true
	WholeSeconds bool `arg:"whole_seconds" default:"false"`
	// The cleanup times of single jobs, by name, for each end of the job, from a controller's log.
	//
	// Default: `release`, or `release_stopped`.
	//
	//	releases = { "1005" = "80ms", "1006" = "1.2s 15ms" }
	Releases []schema.Setting `arg:"releases"`
	// The cleanup time of the first node of a job that was preempted or reached its limit.
	//
	//	release_stopped = "1s"
	StopRelease time.Duration `arg:"release_stopped" default:"0s"`
	// The time of day at the first arrival. Times of reservations are multiples of the resolution on this clock.
	//
	//	clock = "9h30m"
	Clock time.Duration `arg:"clock" default:"0s"`
	// Whether jobs get the nodes with the most free cores, instead of neighboring nodes.
	//
	//	least_loaded = true
	Spread bool `arg:"least_loaded" default:"false"`
	// Whether a limit that stops a job also stops the jobs behind it in its partition.
	//
	//	limits_block = true
	LimitsBlock bool `arg:"limits_block" default:"false"`
}

func init() {
	var wants []policy.Want
	for _, w := range []policy.Want{
		{Of: policy.NodesOf, Name: Filled, Implied: true}, {Of: policy.AllocationOf, Name: policy.Strict},
		{Of: policy.PreemptionOf, Name: policy.NoPreemption}, {Of: policy.PlacementOf, Name: policy.PlaceFirst},
	} {
		w.Detail = fmt.Sprintf("The backfill %q decides that itself: leave %s out.", Periodic, w.Of)
		wants = append(wants, w)
	}
	policy.RegisterBackfill(policy.BackfillChoice{
		Choice: policy.Choice{
			Name: Periodic, Title: "Periodic backfill", Place: 6, Estimates: true, Wants: wants,
			Settings: schema.Args[periodicArgs](), Fits: misfitsOf, Check: checkInstants,
			Draws: func(s policy.Settings) bool { return s["whole_seconds"] == true },
			Doc: "at each event the first jobs of the queue, up to one that cannot start; then, " +
				"periodically, jobs that delay no reservation",
		},
		Passes: true,
		New:    func(s policy.Setup) scheduler.Admitter { return newPeriodic(s) },
	})
}

func checkInstants(s policy.Settings) (string, error) {
	var t periodicArgs
	schema.Fill(&t, s)
	if _, err := readInstants(t.Instants); err != nil {
		return "instants", err
	}
	_, err := t.releases()
	return "releases", err
}

// releases returns the cleanup times of single jobs, by name: one time for each end of the job.
func (t *periodicArgs) releases() (map[string][]time.Duration, error) {
	all := map[string][]time.Duration{}
	for _, r := range t.Releases {
		for text := range strings.FieldsSeq(r.Value) {
			d, err := time.ParseDuration(text)
			if err != nil || d < 0 {
				return nil, fmt.Errorf("%q of the job %s is no time such as 80ms", text, r.Name)
			}
			all[r.Name] = append(all[r.Name], d)
		}
	}
	return all, nil
}
