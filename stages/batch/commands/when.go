// Package commands is the commands of the twin of a Slurm cluster: "tfexp when", and flags of init, explain and serve.
package commands

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/cmd/tfexp/flags"
	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/stages/batch/commands/slurmconf"
	"github.com/tfexp/tfexp/stages/batch/forecast"
	"github.com/tfexp/tfexp/stages/experiment"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register(command.GroupLook, whenCommand)
	flags.Register(flags.Flag[func(context.Context, *command.App, string) (string, http.Handler, error)]{
		Command: "serve", Name: "starts", Synopsis: "[--starts FILE]", Example: "tfexp serve --starts twin.hcl",
		Usage: "also show, at /starts, when the waiting jobs of the Slurm controller will start, by the twin in a `FILE`",
		About: "With --starts and the twin of a Slurm cluster, /starts shows when its waiting jobs will start, as\n" +
			"\"tfexp when --live\" does; nothing is changed there.",
		Do: func(ctx context.Context, a *command.App, file string) (string, http.Handler, error) {
			page, err := newPage(ctx, a, file)
			return "/starts", page, err
		},
	})
	flags.Register(flags.Flag[func(*command.App, string, string) (flags.Moment, error)]{
		Command: "explain", Name: "expected", Synopsis: "[--expected FILE]",
		Example: "tfexp explain recorded-cluster-now-r1 --job 4711 --expected twin.hcl",
		Usage: "say when the job was expected to start, as it arrived: by the log and the rules of the experiment in " +
			"a `FILE`",
		About: "With --job and --expected, also when the job was expected to start as it arrived, where the experiment " +
			"replays\na log: see \"tfexp when\".",
		Do: expected,
	})
	flags.Register(flags.Flag[func(conf string, tables []string, name, dir string) ([]byte, []string, error)]{
		Command: "init", Name: "from-slurm", Synopsis: "[--from-slurm CONF [TABLE…]]",
		Example: "tfexp init twin --from-slurm slurm.conf sacct.txt sacctmgr.txt\n" +
			"                                      twin.hcl, which works by the rules of a cluster",
		Usage: "the `slurm.conf` of a cluster; behind NAME, tables of sacct and sacctmgr",
		Do:    fromConf,
	})
}

// fromConf returns the source of an experiment that works by the rules of a cluster.
func fromConf(conf string, tables []string, name, dir string) (source []byte, doubts []string, err error) {
	t, err := slurmconf.ReadTwin(conf, tables)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return nil, nil, command.Usagef("name slurm.conf, and behind NAME the tables of sacct and sacctmgr", "%w", err)
	}
	if err != nil {
		return nil, nil, command.Usagef(
			"the mistakes are listed by line; correct them in a copy of the files, and name the copy", "%v", err)
	}
	source, err = t.Experiment(name, dir)
	return source, t.UnmodeledSettings(), err
}

// whenOptions are the flags of when.
type whenOptions struct {
	forecast.Options
	vars               command.Variables
	queue, at, policy  string
	live, back, asJSON bool
	far                bool // whether the user sets the horizon
	cores              int
	limit              time.Duration
	user               string
	sub                scheduler.Submission
}

func whenCommand(a *command.App) *cobra.Command {
	var o whenOptions
	cmd := &cobra.Command{
		Use: `when FILE [JOB...] (--live | --queue FILE | --at INSTANT)
  tfexp when FILE (--live | --queue FILE | --at INSTANT) --cores N --time T [--user U] [--partition P]
  tfexp when FILE --backtest`,
		Short: "Predict when waiting jobs will start, by a log of the cluster",
		Long:  command.Help(helpTexts, "when"),
		Example: `  tfexp when twin.hcl --live
  tfexp when twin.hcl 4711 --queue queue.txt --json
  tfexp when twin.hcl --live --cores 64 --time 4h --user ada --partition main
  tfexp when twin.hcl --at 2026-09-20T12:00:00
  tfexp when twin.hcl --backtest`,
		Args:              command.Between(1, -1, "FILE"),
		ValidArgsFunction: command.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args[1:]); err != nil {
				return err
			}
			return when(a, args[0], args[1:], &o)
		},
	}
	f := cmd.Flags()
	o.vars.Flags(f)
	f.BoolVar(&o.live, "live", false, "ask the Slurm controller for the queue: scontrol show job")
	f.StringVar(&o.queue, "queue", "", "read the queue from a `FILE`: what scontrol show job, or squeue, has printed")
	f.StringVar(&o.at, "at", "", "take the queue of the log at an `INSTANT`: a date, or a time since its first job (36h)")
	f.StringVar(&o.policy, "policy", "", "the `POLICY` of the cluster (default: the first cell's)")
	f.IntVar(&o.cores, "cores", 0, "ask about a job that could be submitted now, with `N` cores")
	f.DurationVar(&o.limit, "time", 0, "its time limit `T`, like 4h")
	f.StringVar(&o.user, "user", "", "its `USER`")
	f.StringVar(&o.sub.Account, "account", "", "its `ACCOUNT`")
	f.StringVar(&o.sub.Partition, "partition", "", "its `PARTITION`")
	f.StringVar(&o.sub.QOS, "qos", "", "its quality of service `QOS`")
	f.IntVar(&o.sub.MinNodes, "nodes", 0, "the least `N` nodes that it is divided over")
	f.DurationVar(&o.Horizon, "horizon", 0,
		"how far the futures go, as a `TIME` (default: three times the longest wait of the log, or the work in the queue)")
	f.IntVar(&o.Futures, "futures", 200, "how many futures are simulated, `N`")
	f.IntVar(&o.Trials, "instants", 60,
		"at how many instants `N` of the log forecasts are compared with what happened; 0 for none")
	f.Int64Var(&o.Seed, "seed", 1, "the `SEED` of what is drawn")
	f.BoolVar(&o.back, "backtest", false, "say what forecasts of the log's past were worth")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// check refuses flags that contradict each other.
func (o *whenOptions) check(cmd *cobra.Command, jobs []string) error {
	ways := 0
	for _, given := range []bool{o.live, o.queue != "", o.at != "", o.back} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return command.Usagef("--live asks the controller, --queue reads a file, --at looks into the log, --backtest "+
			"judges forecasts of the past",
			"give one of --live, --queue, --at and --backtest")
	case o.cores > 0 && len(jobs) > 0, o.back && (o.cores > 0 || len(jobs) > 0):
		return command.Usagef("", "ask about jobs, or about one that could be submitted, or for a backtest")
	case o.cores > 0 && o.limit <= 0:
		return command.Usagef("the time limit is what the job would be submitted with, like --time 4h",
			"--cores needs --time")
	case o.cores < 0 || o.Futures < 20 || o.Trials < 0 || o.Horizon < 0 || o.sub.MinNodes < 0:
		return command.Usagef("",
			"--cores, --nodes and --instants must not be negative, nor --horizon; --futures must be at least 20")
	}
	for _, name := range []string{"time", "user", "account", "partition", "qos", "nodes"} {
		if cmd.Flags().Changed(name) && o.cores == 0 {
			return command.Usagef("", "--%s has an effect only with --cores", name)
		}
	}
	return nil
}

func when(a *command.App, file string, jobs []string, o *whenOptions) error {
	t, err := readTwin(a, file, o)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o.Progress = progressLines(a.Err)
	if _, terminal := show.Columns(a.Err); terminal {
		o.Progress = func(what string, done, all int) { fmt.Fprintf(a.Screen, "\r%s: %d of %d \x1b[K", what, done, all) }
		defer fmt.Fprint(a.Screen, "\r\x1b[K")
	}
	if o.back {
		return backtest(ctx, a, t, o)
	}
	return printForecast(ctx, a, t, jobs, o)
}

// linePace is the shortest time before a line about the progress, and between two lines.
var linePace = 2 * time.Second

// progressLines prints progress as lines that fit in a log file.
func progressLines(w io.Writer) forecast.Progress {
	begun := time.Now()
	last := begun
	return func(what string, done, all int) {
		if time.Since(last) >= linePace {
			last = time.Now()
			fmt.Fprintf(w, "%s: %d/%d in %s\n", what, done, all, live.Duration(last.Sub(begun)))
		}
	}
}

// readTwin reads the twin of a cluster from an experiment, and completes the options.
func readTwin(a *command.App, file string, o *whenOptions) (*forecast.Twin, error) {
	spec, err := a.Load(file, &o.vars, false, o.asJSON)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(spec.Cells, func(c experiment.Cell) bool { return o.policy == "" || c.Policy.Name == o.policy })
	if i < 0 {
		return nil, command.Usagef("", "no cell of %s has the policy %q", file, o.policy)
	}
	t, err := forecast.New(spec.Cells[i])
	if err != nil {
		return nil, &command.Error{Code: command.ExitInvalid, Err: err}
	}
	o.far = o.Horizon > 0
	o.Options = o.Complete(t)
	return t, nil
}

// printForecast prints when jobs of the queue, or all, will start.
func printForecast(ctx context.Context, a *command.App, t *forecast.Twin, jobs []string, o *whenOptions) error {
	q, err := queueOf(ctx, a, t, o)
	if err != nil {
		return err
	}
	asked, err := o.asked(t, &q, jobs)
	if err != nil {
		return err
	}
	if len(jobs) > 0 && !o.asJSON {
		q.Without = nil // the user asks for other jobs
	}
	if len(asked) == 0 {
		if len(q.Without) > 0 {
			fmt.Fprintf(a.Err, "no start can be predicted: see the %s below\n", schema.Plural(len(q.Without), "job"))
		} else {
			fmt.Fprintln(a.Err, "no job waits")
		}
		if !o.asJSON {
			return tellWithout(show.Fold(a.Out), &q, a.OutColor)
		}
	}
	if !o.far {
		o.Horizon = max(o.Horizon, t.Backlog(&q))
	}
	list, past, err := t.Predict(ctx, q, asked, o.Options)
	if err != nil {
		return interrupted(err)
	}
	return tellStarts(a, t, &q, asked, list, past, o)
}

// interrupted replaces the error of a cancelled context by the error of an interrupted command.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return pipeline.ErrInterrupted
	}
	return err
}

// queueOf returns the queue that the flags name.
func queueOf(ctx context.Context, a *command.App, t *forecast.Twin, o *whenOptions) (q forecast.Queue, err error) {
	if o.at != "" {
		at, err := o.instant(t)
		return t.QueueAt(at), err
	}
	if t.Origin == 0 {
		return q, &command.Error{Code: command.ExitInvalid,
			Err:  errors.New("the log has no dates: how its hours and users go with the queue is not known"),
			Hint: "give the log of sacct, or one in SWF with UnixStartTime"}
	}
	var notes []string
	if o.live {
		text, err := slurmcmd.Run(ctx, 0, "scontrol", "show", "job", "--all")
		if err != nil {
			return q, &command.Error{Code: command.ExitUnavailable, Err: err, Hint: slurmcmd.MissingHint}
		}
		q, notes, err = slurmconf.ReadQueue("scontrol", strings.NewReader(text))
		if err != nil {
			return q, err
		}
		now := time.Now()
		_, zone := now.Zone()
		q.At = max(q.At, time.Duration(now.Unix()+int64(zone))*time.Second)
	} else {
		f, err := filearg.Open(o.queue)
		if err != nil {
			return q, err
		}
		defer f.Close()
		if q, notes, err = slurmconf.ReadQueue(o.queue, f); err != nil {
			return q, &command.Error{Code: command.ExitInvalid, Err: err}
		}
	}
	if t.InUTC && (q.Dated || o.live) {
		return q, &command.Error{Code: command.ExitInvalid,
			Err:  errors.New("the log counts seconds since 1970, and the queue has dates by the clock of the cluster"),
			Hint: "print the log with  sacct -a -X -D --parsable2  and dates, or the queue with SLURM_TIME_FORMAT=%s"}
	}
	if !t.InUTC && !q.Dated && len(q.Jobs) > 0 {
		notes = append(notes, "the queue counts seconds since 1970: dates of the log, if it has any, are taken to be "+
			"in UTC")
	}
	q, left := t.OnClock(q)
	notes = append(notes, left...)
	for _, note := range notes {
		fmt.Fprintf(a.Err, "not as it is: %s\n", note)
	}
	return q, nil
}

// instant returns the instant that --at names.
func (o *whenOptions) instant(t *forecast.Twin) (time.Duration, error) {
	first, last := t.Span()
	at, err := time.ParseDuration(o.at)
	if err != nil {
		if at, err = logs.ParseInstant(o.at, time.Second); err == nil && t.Origin > 0 {
			at -= t.Origin
		}
	}
	if err != nil {
		return 0, command.Usagef("", "--at: %w", err)
	}
	if at < first || at > last {
		return 0, command.Usagef("", "--at is outside of the log, which goes from %s to %s",
			clockOf(t, first), clockOf(t, last))
	}
	return at, nil
}

// clockOf writes an instant of the log: a date, or the time since its beginning.
func clockOf(t *forecast.Twin, at time.Duration) string {
	if t.Origin == 0 {
		return "+" + live.Duration(at)
	}
	return time.Unix(0, int64(t.Origin+at)).UTC().Format("2006-01-02T15:04:05")
}

// asked returns the indexes of the jobs to forecast. It adds the job that the user describes by flags, if any.
func (o *whenOptions) asked(t *forecast.Twin, q *forecast.Queue, jobs []string) (list []int, err error) {
	if o.cores > 0 {
		j := forecast.Queued{Start: scheduler.Never}
		j.Name, j.User, j.Class, j.Arrival, j.Threads = "new", o.user, "job", q.At, o.cores
		j.Deadline, j.Priority, j.Predicted = scheduler.Never, -1, o.limit
		o.sub.Limit = o.limit
		j.Own().Submission = &o.sub
		if err := t.Check(j.Job); err != nil {
			return nil, &command.Error{Code: command.ExitUsage, Err: err}
		}
		q.Jobs = append(q.Jobs, j)
		return []int{len(q.Jobs) - 1}, nil
	}
	var names []string
	for i := range q.Jobs {
		if j := &q.Jobs[i]; j.Waits() {
			names = append(names, j.Name)
			if len(jobs) == 0 || slices.Contains(jobs, j.Name) {
				list = append(list, i)
			}
		}
	}
	for _, job := range jobs {
		if why := q.Reason(job); why != "" {
			return nil, command.Usagef("", "no start is predicted for the job %s: %s", job, why)
		}
		if !slices.Contains(names, job) {
			return nil, command.Usagef(command.DidYouMean(job, names, fmt.Sprintf("%d jobs wait", len(names))),
				"no job %s waits", job)
		}
	}
	return list, nil
}

// startRow is a forecast as JSON has it. Instants and seconds are null beyond the horizon.
type startRow struct {
	Job       string      `json:"job"`
	User      string      `json:"user"`
	Cores     int         `json:"cores"`
	Waited    float64     `json:"waited_s"`
	Start     string      `json:"median_start,omitempty"`
	Median    *float64    `json:"median_s"`
	Half      [2]*float64 `json:"interval_50_s"`
	Nine      [2]*float64 `json:"interval_90_s"`
	Within    float64     `json:"within_horizon"`
	Requested *float64    `json:"by_requested_times_s"`
}

// withoutRow is a waiting job without a forecast as JSON has it.
type withoutRow struct {
	Job    string `json:"job"`
	User   string `json:"user"`
	Cores  int    `json:"cores"`
	Reason string `json:"reason"`
}

func tellStarts(a *command.App,
	t *forecast.Twin, q *forecast.Queue, asked []int, list []forecast.Forecast, past *forecast.Backtest, o *whenOptions,
) error {
	finite := func(x float64) *float64 {
		if math.IsInf(x, 1) {
			return nil
		}
		return &x
	}
	rows := []startRow{}
	for i, f := range list {
		j := &q.Jobs[asked[i]]
		s := f.Seconds
		row := startRow{Job: j.Name, User: j.User, Cores: j.Threads, Waited: (q.At - j.Arrival).Seconds(),
			Median: finite(s[2]), Half: [2]*float64{finite(s[1]), finite(s[3])},
			Nine:      [2]*float64{finite(s[0]), finite(s[4])},
			Within:    f.Within,
			Requested: finite(f.Requested)}
		if row.Median != nil {
			row.Start = clockOf(t, q.At+time.Duration(s[2]*1e9))
		}
		rows = append(rows, row)
	}
	if o.asJSON {
		return a.PrintJSON(struct {
			At         string             `json:"at"`
			Horizon    float64            `json:"horizon_s"`
			Futures    int                `json:"futures"`
			Calibrated bool               `json:"calibrated"`
			Past       *forecast.Backtest `json:"past,omitempty"`
			Jobs       []startRow         `json:"jobs"`
			Without    []withoutRow       `json:"without_start,omitempty"`
		}{clockOf(t, q.At), o.Horizon.Seconds(), o.Futures, past != nil, past, rows,
			schema.Each(q.Without, func(w forecast.WithoutStart) withoutRow { return withoutRow(w) })})
	}
	out := show.Fold(a.Out)
	if past != nil {
		fmt.Fprintf(out, "Calibrated by %d forecasts of the log's past. ", past.Made)
		tellPast(out, past)
	} else {
		fmt.Fprintln(out, "Not calibrated: too few forecasts of the log's past can be compared with what happened.")
	}
	fmt.Fprintf(out, "At %s, in %d futures:\n\n", clockOf(t, q.At), o.Futures)
	wait := func(x *float64) string {
		if x == nil {
			return "beyond " + live.Duration(o.Horizon)
		}
		return live.Duration(time.Duration(*x * 1e9).Round(time.Second))
	}
	view := table.New(8, "job", "user", "cores", "starts in", "at", "half of the futures", "90% of the futures",
		"by requested times")
	for _, r := range rows {
		both := func(x [2]*float64) string {
			if x[0] == nil {
				return wait(nil)
			}
			return wait(x[0]) + " to " + wait(x[1])
		}
		view.Add(r.Job, r.User, fmt.Sprint(r.Cores), wait(r.Median), r.Start, both(r.Half), both(r.Nine), wait(r.Requested))
	}
	if err := view.Write(out, "", a.OutColor); err != nil || len(q.Without) == 0 {
		return err
	}
	fmt.Fprintln(out)
	return tellWithout(out, q, a.OutColor)
}

// tellWithout prints the jobs whose starts cannot be predicted.
func tellWithout(out io.Writer, q *forecast.Queue, color bool) error {
	if len(q.Without) == 0 {
		return nil
	}
	view := table.New(4, "job", "user", "cores", "no start is predicted")
	for _, w := range q.Without {
		view.Add(w.Job, w.User, fmt.Sprint(w.Cores), w.Reason)
	}
	return view.Write(out, "", color)
}

// tellPast prints how good forecasts of the past were.
func tellPast(out io.Writer, b *forecast.Backtest) {
	span := func(s float64) string { return live.Duration(time.Duration(s * 1e9).Round(time.Second)) }
	fmt.Fprintf(out, "Of %d, each calibrated by those before it, the medians were\noff by %s (median; by requested "+
		"times %s); %.1f%% started within the intervals of 90%%,\n%.1f%% within those of 50%%.\n",
		b.Checked, span(b.Error), span(b.Requested), b.Nine, b.Half)
}

func backtest(ctx context.Context, a *command.App, t *forecast.Twin, o *whenOptions) error {
	b, err := t.Backtest(ctx, o.Options)
	if errors.Is(err, forecast.ErrShort) {
		return &command.Error{Code: command.ExitInvalid, Err: err, Hint: "give a longer log, or more --instants"}
	} else if err != nil {
		return interrupted(err)
	}
	if o.asJSON {
		return a.PrintJSON(b)
	}
	out := show.Fold(a.Out)
	tellPast(out, &b)
	fmt.Fprintf(out, "Without calibration %.1f%% started within the intervals of 90%%. Half of the jobs waited\n"+
		"for more than %s; the intervals of 90%% are %s wide (median).\n", b.RawNine,
		live.Duration(time.Duration(b.Wait*1e9)),
		live.Duration(time.Duration(b.Width*1e9)))
	return nil
}
