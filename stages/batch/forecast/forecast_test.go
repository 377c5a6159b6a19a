package forecast

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/stages/batch"
	"github.com/tfexp/tfexp/stages/experiment"
)

// easy is a policy that backfills by requested times; slurmRules is a policy with the rules of a batch system.
var (
	easy       = policy.Policy{Order: "fcfs", Backfill: "easy"}
	slurmRules = policy.Policy{Order: batch.Multifactor, Backfill: batch.Periodic, Nodes: batch.Filled,
		Settings: policy.Settings{"weight_age": 1000.0, "weight_fair_share": 10000.0, "half_life": time.Hour},
		Blocks: []schema.Settings{
			{Name: "partition", Label: "left", Args: map[string]any{"nodes": []string{"n1"}, "tier": 1, "factor": 1}},
			{Name: "partition", Label: "right", Args: map[string]any{"nodes": []string{"n2"}, "tier": 1, "factor": 1}},
		}}
)

// job is a job of a log: its request, and its recorded times.
func job(n int, user, partition string, arrival, start, run, limit time.Duration, cores int) (j logged) {
	j.Name, j.User, j.Class, j.Arrival, j.Threads = fmt.Sprint(n), user, "job", arrival, cores
	j.Deadline, j.Priority, j.Predicted = scheduler.Never, -1, limit
	j.Own().Submission = &scheduler.Submission{Partition: partition, Limit: limit}
	j.start, j.end = start, start+run
	return j
}

// twinOf makes the twin of a log on two nodes with the given number of cores.
func twinOf(t *testing.T, p policy.Policy, cores int, log []logged) *Twin {
	t.Helper()
	var trace logs.Builder
	for i, j := range log {
		if err := trace.Add(i+1, j.Job, j.end-j.start); err != nil {
			t.Fatal(err)
		}
		trace.Waited(j.start - j.Arrival)
	}
	nodes := []scheduler.Node{{Name: "n1", Threads: cores}, {Name: "n2", Threads: cores}}
	tw, err := New(experiment.Cell{
		Workload: &experiment.Workload{Name: "log", Trace: &experiment.Trace{Trace: trace.Finish(nil)}},
		Hardware: &experiment.Hardware{Name: "cluster", Cluster: scheduler.Cluster{Nodes: nodes}},
		Policy:   &experiment.Policy{Name: "now", Policy: p, Estimates: "requested"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tw
}

const minute = time.Minute

// TestByHand has a log whose jobs always take half of their requested time. At 105 minutes a job has run for 5 of its
// 20 minutes, with 40 requested. So the next starts in 15 minutes, or by requested times in 35. The job of the other
// partition starts at once.
func TestByHand(t *testing.T) {
	var log []logged
	for i := range 10 {
		at := time.Duration(i) * 10 * minute
		log = append(log, job(i, "ada", "left", at, at, 5*minute, 10*minute, 4))
	}
	log = append(log, job(10, "ada", "left", 100*minute, 100*minute, 20*minute, 40*minute, 4),
		job(11, "bob", "left", 101*minute, 130*minute, 5*minute, 10*minute, 2),
		job(12, "bob", "right", 105*minute, 105*minute+time.Second, 5*minute, 10*minute, 2))
	tw := twinOf(t, slurmRules, 4, log)
	q := tw.QueueAt(105 * minute)
	if len(q.Jobs) != 3 || q.Jobs[0].Waits() || !q.Jobs[1].Waits() || !q.Jobs[2].Waits() {
		t.Fatalf("the queue is %+v", q.Jobs)
	}
	list, past, err := tw.Predict(context.Background(), q, []int{1, 2}, Options{Futures: 40, Horizon: time.Hour, Seed: 1})
	if err != nil || past != nil {
		t.Fatal(past, err)
	}
	near := func(got float64, want time.Duration) bool { return math.Abs(got-want.Seconds()) <= 30 }
	if f := list[0]; !near(f.Seconds[2], 15*minute) || !near(f.Requested, 35*minute) || f.Within < 0.9 {
		t.Errorf("the job of the left partition starts in %v s, by requests in %.0f s", f.Seconds, f.Requested)
	}
	if f := list[1]; !near(f.Seconds[4], 0) {
		t.Errorf("the job of the right partition starts in %v s", f.Seconds)
	}
	list, _, err = tw.Predict(context.Background(), q, []int{1}, Options{Futures: 40, Horizon: 10 * minute, Seed: 1})
	if err != nil || !math.IsInf(list[0].Seconds[2], 1) || list[0].Within > 0.1 {
		t.Errorf("within 10 minutes it starts in %v s (%v)", list, err)
	}
}

// TestDependencies: a job that comes after an array waits for its elements, and for nothing that is over.
func TestDependencies(t *testing.T) {
	var log []logged
	for i := range 10 {
		at := time.Duration(i) * 10 * minute
		log = append(log, job(i, "ada", "left", at, at, 10*minute, 10*minute, 1))
	}
	tw := twinOf(t, slurmRules, 4, log)
	q := Queue{At: 100 * minute}
	for i, start := range []time.Duration{95 * minute, 98 * minute, scheduler.Never} {
		q.Jobs = append(q.Jobs, Queued{job(20+i, "ada", "left", 90*minute, 0, 0, 10*minute, 1).Job, start})
		q.Jobs[i].Submission().Array = []string{"20", "20", ""}[i]
	}
	q.Jobs[2].Submission().After = []string{"20", "7"}
	list, _, err := tw.Predict(context.Background(), q, []int{2}, Options{Futures: 20, Horizon: time.Hour, Seed: 1})
	if err != nil || math.Abs(list[0].Seconds[2]-480) > 30 {
		t.Errorf("it starts in %v s (%v), want 480", list, err)
	}
}

// TestDraws: run times are drawn from the narrowest kind with enough of them, and are longer than the elapsed time.
func TestDraws(t *testing.T) {
	var log []logged
	for i := range 100 {
		at := time.Duration(i) * minute
		log = append(log, job(i, "ada", "left", at, at, 12*time.Second, minute, 1),
			job(1000+i, "bob", "left", at, at, 48*time.Second, minute, 1))
	}
	p := twinOf(t, slurmRules, 4, log).known(200 * minute)
	r := rand.New(rand.NewPCG(1, 2))
	mean := func(j logged, ran time.Duration) (sum float64) {
		for range 2000 {
			d := p.draw(&j.Job, ran, r)
			if d <= ran {
				t.Fatalf("a job that has run for %s takes %s", ran, d)
			}
			sum += d.Seconds() / 2000
		}
		return sum
	}
	for _, test := range []struct {
		name string
		job  logged
		ran  time.Duration
		want float64
	}{
		{"the user's", log[0], 0, 12}, {"another user's", log[1], 0, 48}, {"nobody's", job(1, "eve", "left", 0, 0, 0, minute, 1), 0, 30},
		{"longer than the user's", log[0], 20 * time.Second, 48}, {"longer than any", log[0], 50 * time.Second, 60},
	} {
		if got := mean(test.job, test.ran); math.Abs(got-test.want) > 3 {
			t.Errorf("%s run times are %.1f s on average, want %.0f", test.name, got, test.want)
		}
	}
}

// TestArrivals: drawn jobs arrive as often as in the log, at the hours of the log.
func TestArrivals(t *testing.T) {
	var log []logged
	for day := range 28 {
		for i := range 20 { // at nine o'clock, on five of seven days
			if at := time.Duration(day)*24*time.Hour + 9*time.Hour + time.Duration(i)*minute; day%7 < 5 {
				log = append(log, job(len(log), "ada", "left", at, at, minute, minute, 1))
			}
		}
	}
	p := twinOf(t, slurmRules, 4, log).known(28*24*time.Hour - time.Second)
	jobs, runs := p.arrivals((28+7)*24*time.Hour, rand.New(rand.NewPCG(1, 2)))
	if len(jobs) < 80 || len(jobs) > 120 || len(runs) != len(jobs) {
		t.Errorf("%d jobs arrive in a week, want about 100", len(jobs))
	}
	for _, j := range jobs {
		if hour := int(j.Arrival.Hours()) % 24; hour != 9 {
			t.Errorf("a job arrives at %d o'clock", hour)
		}
	}
}

// madeLog makes a log by simulating a policy: users request two to six times the run time of their jobs, each user by
// a different factor.
func madeLog(t *testing.T, p policy.Policy, n int) (log []logged) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	var jobs []scheduler.Job
	var work []simulated.Scaling
	at := time.Duration(0)
	for i := range n {
		at += time.Duration(r.ExpFloat64() * float64(330*time.Second)).Round(time.Second)
		user := r.IntN(6)
		limit := []time.Duration{20 * minute, time.Hour, 3 * time.Hour}[r.IntN(3)]
		run := time.Duration(float64(limit) * (0.1 + 0.06*float64(user) + 0.1*r.Float64())).Round(time.Second)
		j := job(i, fmt.Sprint("u", user), "", at, 0, run, limit, 1+r.IntN(12))
		j.Number = i
		jobs, work, log = append(jobs, j.Job), append(work, simulated.Scaling{Scaled: run, Threads: j.Threads}), append(log, j)
	}
	engine, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := []scheduler.Node{{Name: "n1", Threads: 16}, {Name: "n2", Threads: 16}}
	out, err := scheduler.Run{Policy: p.Complete(), Cluster: scheduler.Cluster{Nodes: nodes}, Jobs: jobs, Engine: engine}.Execute(
		context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := range log {
		log[i].start = out.Jobs[i].FirstStart
		log[i].end = out.Jobs[i].Finish
	}
	return log
}

// TestBacktest: where the rules are known, forecasts have at most half the error of forecasts by requested times, and
// the intervals have their nominal coverage.
func TestBacktest(t *testing.T) {
	tw := twinOf(t, easy, 16, madeLog(t, easy, 1000))
	o := Options{Futures: 80, Trials: 80, Seed: 1}.Complete(tw)
	if testing.Short() { // for the race detector
		o.Trials, o.Futures = 24, 16
	}
	b, err := tw.Backtest(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d: off by %.0f s, by requests %.0f s, waits %.0f s; %.1f%% in 90%% (%.1f%% before), %.1f%% in 50%%; width %.0f s",
		b.Checked, b.Made, b.Error, b.Requested, b.Wait, b.Nine, b.RawNine, b.Half, b.Width)
	if !testing.Short() && (b.Checked < 60 || b.Error > b.Requested/2 || b.Nine < 84 || b.Nine > 97 || b.Half < 38 || b.Half > 65) {
		t.Errorf("forecasts are worth %+v", b)
	}
	o.Trials, o.Horizon = 4, time.Hour
	one, _, err1 := tw.try(context.Background(), never, o)
	two, _, err2 := tw.try(context.Background(), never, o)
	if err1 != nil || err2 != nil || len(one) == 0 || !slices.Equal(one, two) {
		t.Errorf("the same seed gives other forecasts (%v, %v)", err1, err2)
	}
}

// TestCalibration: the correction moves each quantile to the outcomes, using only the known ones.
func TestCalibration(t *testing.T) {
	var trials []Trial
	for i := range 100 {
		trials = append(trials, Trial{At: time.Duration(i) * time.Hour, Actual: 200 + float64(i),
			Raw: Forecast{Seconds: [5]float64{80, 90, 100, 110, 120}}})
	}
	if c := calibration(trials, 20*time.Hour); c != nil {
		t.Errorf("20 trials calibrate: %v", c)
	}
	f := calibration(trials, never).apply(trials[0].Raw, time.Hour)
	for k, want := range []float64{205, 225, 250, 275, 295} {
		if math.Abs(f.Seconds[k]-want) > 3 {
			t.Errorf("the quantiles are %v, want that at %v to be %v", f.Seconds, levels[k], want)
		}
	}
	if f := calibration(trials, never).apply(trials[0].Raw, 260*time.Second); !math.IsInf(f.Seconds[3], 1) {
		t.Errorf("the quantiles are %v with a horizon of 260 s", f.Seconds)
	}
}

// TestTracker: where outcomes change, the intervals keep their coverage: waits become longer and longer.
func TestTracker(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	coverage := func(correct func([]Trial, time.Duration) correction) float64 {
		var trials []Trial
		in, checked := 0, 0
		for i := range 600 {
			at := time.Duration(i) * 10 * minute
			f := Forecast{Seconds: [5]float64{100, 150, 200, 250, 300}}
			x := Trial{At: at, Raw: f, Forecast: f, Actual: (200 + 100*r.NormFloat64()) * (1 + float64(i)/200)}
			if c := correct(trials, at); c != nil {
				x.Forecast, x.Checked = c.apply(f, 100*time.Hour), true
				if checked++; x.Actual >= x.Forecast.Seconds[0] && x.Actual <= x.Forecast.Seconds[4] {
					in++
				}
			}
			trials = append(trials, x)
		}
		return 100 * float64(in) / float64(checked)
	}
	var track tracker
	moved, fixed := coverage(track.correction), coverage(calibration)
	if t.Logf("%.1f%% are in intervals of 90%%, %.1f%% without tracking", moved, fixed); moved < 86 || moved > 94 || fixed > 84 {
		t.Errorf("%.1f%% are in intervals of 90%%, %.1f%% without tracking", moved, fixed)
	}
}

func TestRefused(t *testing.T) {
	trace := &experiment.Trace{File: "log.swf"}
	cell := experiment.Cell{Workload: &experiment.Workload{Name: "w"}, Hardware: &experiment.Hardware{},
		Policy: &experiment.Policy{Name: "p", Policy: easy}}
	cell.Hardware.Cluster.Nodes = []scheduler.Node{{Name: "n", Threads: 1}}
	if _, err := New(cell); err == nil || err.Error() != "the workload w is no log: give it a trace block with the log of the cluster" {
		t.Errorf("without a log: %v", err)
	}
	cell.Workload.Trace = trace
	if _, err := New(cell); err == nil || err.Error() != "log.swf does not have when its jobs started and ended" {
		t.Errorf("without starts: %v", err)
	}
	cell.Policy.Policy = policy.Policy{Order: "round_robin", Settings: policy.Settings{"quantum": time.Second}}
	if _, err := New(cell); err == nil {
		t.Error("round robin is not refused")
	}
}

// TestLeftOut: a waiting job gets no start if it is held, or waits for a job that has no start or is not in the queue.
// It also gets none if the twin does not have its limit, reservation, partition or feature. All other jobs get a start.
func TestLeftOut(t *testing.T) {
	p := slurmRules
	p.Blocks = append(slices.Clone(p.Blocks), schema.Settings{Name: "qos", Label: "low", Args: map[string]any{"group_cores": 4}},
		schema.Settings{Name: "account", Label: "art", Args: map[string]any{}, Blocks: []schema.Settings{
			{Name: "user", Label: "ada", Args: map[string]any{"max_jobs": 2}}}})
	tw := twinOf(t, p, 4, []logged{job(0, "ada", "left", 0, 0, 5*minute, 10*minute, 4)})
	q := Queue{Without: []WithoutStart{{"1", "ada", 2, "JobHeldUser"}, {"9_2", "ada", 2, "JobHeldUser"}},
		Limits: map[string]Limit{"3": {"QOSGrpCpuLimit", "qos", "group_cores"}, "4": {"AssocGrpCpuLimit", "account", "group_cores"},
			"5": {"AssocMaxJobsLimit", "account", "max_jobs"}},
		Unmet: map[string][]string{"6": {"77"}, "8": {"7"}}}
	for name, change := range map[string]func(*scheduler.Submission){
		"2": func(s *scheduler.Submission) { s.After = []string{"1"} }, "3": nil, "4": nil, "5": nil, "6": nil, "7": nil, "8": nil,
		"10": func(s *scheduler.Submission) { s.After = []string{"2"} }, "11": func(s *scheduler.Submission) { s.After = []string{"9"} },
		"12": func(s *scheduler.Submission) { s.Reservation = "night" }, "13": func(s *scheduler.Submission) { s.Partition = "none" },
		"14": func(s *scheduler.Submission) { s.Features = []string{"gold"} },
	} {
		j := Queued{job(0, "ada", "left", 0, 0, 0, 10*minute, 2).Job, scheduler.Never}
		if j.Name = name; change != nil {
			change(j.Submission())
		}
		q.Jobs = append(q.Jobs, j)
	}
	out, left := tw.OnClock(q)
	var stay []string
	for i := range out.Jobs {
		stay = append(stay, out.Jobs[i].Name)
	}
	slices.Sort(stay)
	if !slices.Equal(stay, []string{"3", "5", "7", "8"}) || len(left) != 8 {
		t.Errorf("the jobs are %q; left out: %q", stay, left)
	}
	for job, want := range map[string]string{"1": "JobHeldUser", "2": "they wait for jobs without a start", "7": "",
		"4": "AssocGrpCpuLimit (the twin has no such limit)", "6": "they wait for jobs that the queue does not have",
		"10": "they wait for jobs without a start", "11": "they wait for jobs without a start",
		"12": "their reservation night is not in the twin", "13": "their partition none is not in the twin", "14": `the job 14 asks for "gold", which no node has`} {
		if got := out.Reason(job); got != want {
			t.Errorf("job %s has no start because of %q, want %q", job, got, want)
		}
	}
	list, err := tw.futuresOf(t, out)
	if err != nil || len(list) != 4 {
		t.Errorf("%d forecasts, %v", len(list), err)
	}
}

// Jobs that wait for each other have no start, nor do jobs behind them; arrays count as all of their elements. GPUs of one
// type beside others are noted once.
func TestCircles(t *testing.T) {
	p := slurmRules
	p.Blocks = append(slices.Clone(p.Blocks), schema.Settings{Name: "node_set", Args: map[string]any{"names": []string{"n1"}, "weight": 1,
		"features": []string{"gpu:a", "gpu:b"}}})
	tw := twinOf(t, p, 4, []logged{job(0, "ada", "left", 0, 0, 5*minute, 10*minute, 4)})
	var q Queue
	for _, c := range []struct {
		name, array string
		after       []string
	}{{"1", "", []string{"2"}}, {"2", "", []string{"1"}}, {"3", "", []string{"2"}}, {"4", "", nil}, {"5", "", []string{"4"}}, {"6", "", []string{"6"}},
		{"7_1", "7", []string{"8"}}, {"7_2", "7", nil}, {"8", "", []string{"7"}}, {"9_1", "9", nil}, {"9_2", "9", []string{"9_1"}}, {"10", "", []string{"9", "99"}}} {
		j := Queued{job(0, "ada", "left", 0, 0, 0, 10*minute, 2).Job, scheduler.Never}
		j.Name, j.Submission().Array, j.Submission().After = c.name, c.array, c.after
		if c.name == "4" || c.name == "5" {
			j.Submission().Features = []string{"gpu:b"}
		}
		q.Jobs = append(q.Jobs, j)
	}
	out, left := tw.OnClock(q)
	var stay []string
	for i := range out.Jobs {
		stay = append(stay, out.Jobs[i].Name)
	}
	if !slices.Equal(stay, []string{"4", "5", "7_2", "9_1", "9_2", "10"}) || len(out.Without) != 6 || len(left) != 7 ||
		out.Reason("1") != "they wait for jobs that wait for each other" || !strings.HasPrefix(left[0], "GPUs of several types on a node count as one type") {
		t.Errorf("the jobs are %q; left out: %q", stay, left)
	}
}

// A job without a time limit has the limit of its partition; without that, run times of the log are drawn for it as they are.
func TestWithoutLimit(t *testing.T) {
	p := slurmRules
	p.Blocks = slices.Clone(p.Blocks)
	p.Blocks[1].Args = map[string]any{"nodes": []string{"n2"}, "tier": 1, "factor": 1, "default_time": 20 * minute, "max_time": time.Hour}
	var log []logged
	for i := range 20 {
		at := time.Duration(i) * 10 * minute
		log = append(log, job(i, "ada", "left", at, at, 5*minute, 10*minute, 4))
	}
	tw := twinOf(t, p, 4, log)
	past := tw.known(log[19].end)
	for _, c := range []struct {
		partition     string
		limit         time.Duration // as asked for
		want, longest time.Duration // the limit that counts, and the longest run time
	}{
		{"left", 0, batch.NoLimit, 5 * minute}, {"left", batch.NoLimit, batch.NoLimit, 5 * minute}, {"left", 30 * minute, 30 * minute, 15 * minute},
		{"right", 0, 20 * minute, 10 * minute}, {"right", batch.NoLimit, time.Hour, 30 * minute},
	} {
		j := Queued{job(0, "ada", c.partition, 0, 0, 0, c.limit, 2).Job, scheduler.Never}
		j.Predicted = c.limit
		q, _ := tw.OnClock(Queue{Jobs: []Queued{j}})
		got := &q.Jobs[0]
		run := past.draw(&got.Job, 0, rand.New(rand.NewPCG(1, 2)))
		if got.Predicted != c.want || got.Submission().Limit != c.want || run != c.longest {
			t.Errorf("%+v: the limit is %v, and the run time %v", c, got.Predicted, run)
		}
	}
}

// futuresOf forecasts all jobs of a queue.
func (t *Twin) futuresOf(tt *testing.T, q Queue) ([]Forecast, error) {
	tt.Helper()
	asked := make([]int, len(q.Jobs))
	for i := range asked {
		asked[i] = i
	}
	list, _, err := t.Predict(context.Background(), q, asked, Options{Futures: 20, Horizon: time.Hour, Seed: 1})
	return list, err
}
