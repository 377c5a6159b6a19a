package batch

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Periodic is the backfill with two schedulers.
const Periodic policy.Backfill = "periodic"

// periodicArgs are the arguments of the backfill.
type periodicArgs struct {
	// How many jobs after the first one are looked at when jobs come or end.
	//
	//	queue_depth = 50
	Depth int `arg:"queue_depth" default:"100" min:"0" max:"jobs"`
	// How often all waiting jobs are looked at.
	//
	//	queue_interval = "20s"
	Interval time.Duration `arg:"queue_interval,positive" least:"1s" default:"1m"`
	// The least time between two looks at the queue for jobs that have come.
	//
	//	submit_delay = "1s"
	Delay time.Duration `arg:"submit_delay" default:"3s"`
	// The instants at which the queue is looked at, up to `queue_depth` (`look`) or all of it (`all`), and the rounds of
	// backfill, since the first arrival and in their order, instead of periods: as the log of a controller has them.
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
	// How far a round of backfill looks ahead.
	//
	//	backfill_window = "48h"
	Window time.Duration `arg:"backfill_window,positive" default:"24h"`
	// The instants of reservations are multiples of this.
	//
	//	backfill_resolution = "5m"
	Resolution time.Duration `arg:"backfill_resolution,positive" least:"1s" default:"1m"`
	// How many jobs a round of backfill looks at.
	//
	//	backfill_depth = 1000
	Jobs int `arg:"backfill_depth" default:"500" min:"1" max:"jobs"`
	// How many of each partition; `0` for no bound.
	//
	//	backfill_depth_partition = 200
	PerPartition int `arg:"backfill_depth_partition" default:"0" min:"0" max:"jobs"`
	// How many of each user; `0` for no bound.
	//
	//	backfill_depth_user = 20
	PerUser int `arg:"backfill_depth_user" default:"0" min:"0" max:"jobs"`
	// How many jobs a round starts; `0` for no bound.
	//
	//	backfill_starts = 50
	Starts int `arg:"backfill_starts" default:"0" min:"0" max:"jobs"`
	// For a reservation running jobs end in groups. The first group lasts for this time from the next multiple of it
	// after the first end. The time doubles with each group.
	//
	//	backfill_grouping = "30s"
	Grouping time.Duration `arg:"backfill_grouping,positive" default:"30s"`
	// Which running jobs give way to a job that cannot start: those of a `qos` that its own preempts, or those of a
	// `partition` of a lower tier.
	//
	//	preemption_by = "qos"
	PreemptionBy string `arg:"preemption_by" default:"none" allowed:"none qos partition"`
	// What becomes of jobs that give way: they wait again with all of their work, end, or are paused.
	//
	//	preempt_mode = "cancel"
	PreemptMode string `arg:"preempt_mode" default:"requeue" allowed:"off requeue cancel suspend"`
	// How long a job waits, after others gave way to it, before it has more give way.
	//
	//	preempt_again = "40s"
	Again time.Duration `arg:"preempt_again" default:"0s"`
	// How long a job that was put back waits at least, once its nodes are released.
	//
	//	requeue_delay = "1m"
	RequeueDelay time.Duration `arg:"requeue_delay" default:"2m"`
	// How long beyond its time limit a job runs before it is ended.
	//
	//	over_limit = "5m"
	OverLimit time.Duration `arg:"over_limit" default:"30s"`
	// The queue is looked at as soon as a job ends. Otherwise the look comes as for jobs that have come.
	//
	//	look_at_ends = false
	AtEnds bool `arg:"look_at_ends" default:"true"`
	// How long the nodes of a job that has ended take no other jobs: its remains are removed.
	//
	//	release = "1s"
	Release time.Duration `arg:"release" default:"0s"`
	// The same for single jobs, by name, for each time that the job ends: as the log of a controller has it.
	//
	// Default: `release`, or `release_stopped`.
	//
	//	releases = { "1005" = "80ms", "1006" = "1.2s 15ms" }
	Releases []schema.Setting `arg:"releases"`
	// The same for the first node of a job that was made to end, as it gave way, or reached its limit.
	//
	//	release_stopped = "1s"
	StopRelease time.Duration `arg:"release_stopped" default:"0s"`
	// The time of the day at the first arrival. Times of reservations are multiples of the resolution on this clock.
	//
	//	clock = "9h30m"
	Clock time.Duration `arg:"clock" default:"0s"`
	// Jobs get the nodes with the most free cores, not nodes that follow each other.
	//
	//	least_loaded = true
	Spread bool `arg:"least_loaded" default:"false"`
	// A limit that holds a job back also holds back those behind it in its partition.
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
			Doc: "first those that come first, up to one that cannot start, at each event; then those that delay no " +
				"reservation, in rounds",
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

// releases returns how long the nodes of single jobs take no other jobs, by their ends.
func (t *periodicArgs) releases() (map[string][]time.Duration, error) {
	all := map[string][]time.Duration{}
	for _, r := range t.Releases {
		for _, text := range strings.Fields(r.Value) {
			d, err := time.ParseDuration(text)
			if err != nil || d < 0 {
				return nil, fmt.Errorf("%q of the job %s is no time such as 80ms", text, r.Name)
			}
			all[r.Name] = append(all[r.Name], d)
		}
	}
	return all, nil
}
