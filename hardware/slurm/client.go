// Client runs the commands of a Slurm cluster (22.05 or later). It makes the requests, parses the answers, and suggests
// remedies for errors.

package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/results/folder"
)

// EnvJob is the variable with the number of the Slurm job that a program runs in.
const EnvJob = "SLURM_JOB_ID"

// DefaultPatience is how long a controller that does not answer is waited for.
const DefaultPatience = 5 * time.Minute

// Away reports whether an error says that the controller does not answer, or not now.
func Away(err error) bool {
	var e *slurmcmd.Error
	return errors.As(err, &e) && (AwayText(e.Text) || errors.Is(err, context.DeadlineExceeded))
}

// AwayText reports whether a text of Slurm's says that.
func AwayText(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"unable to contact slurm controller", "socket timed out", "connection refused",
		"zero bytes were transmitted", "unable to establish controller machine", "socket connection error",
		"communication connection failure", "unable to establish control machine", "resource temporarily unavailable",
	}, func(s string) bool { return strings.Contains(text, s) })
}

// jobNumber reads the number of a job, as Slurm prints it or a note has it: what else stands there is no argument for
// its commands.
func jobNumber(text string) (string, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseUint(text, 10, 32); err != nil || n == 0 || text != strconv.FormatUint(n, 10) {
		return "", fmt.Errorf("%.40q is not a number of a job", text)
	}
	return text, nil
}

// jobNumbers returns the elements of jobs that are numbers.
func jobNumbers(jobs []string) []string {
	return slices.DeleteFunc(slices.Clone(jobs), func(job string) bool { _, err := jobNumber(job); return err != nil })
}

// Call runs a command as RunCommand does, and repeats it while the controller does not answer, with growing random
// pauses, until patience is over.
func Call(ctx context.Context, patience time.Duration, command string, args ...string) (string, error) {
	began := time.Now()
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 15*time.Second) {
		out, err := slurmcmd.Run(ctx, 0, command, args...)
		if err == nil || !Away(err) || ctx.Err() != nil || time.Since(began) > patience {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(Jitter(pause)):
		}
	}
}

// Jitter returns a duration at random around d, so that many that wait do not all come at once.
func Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// advice has remedies for messages of Slurm.
var advice = []struct{ part, hint string }{
	{"partition name", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"invalid partition", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"default partition", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"submit limit",
		`wait until some of your jobs have ended ("squeue --me"), or let more cells share a task with --batch`},
	{"accounting/qos policy",
		`wait until some of your jobs have ended ("squeue --me"), or let more cells share a task with --batch`},
	{"account",
		`"sacctmgr show associations user=$USER" lists your accounts; name one with account = "…" or --sbatch account=…`},
	{"qos specification", `"sacctmgr show qos" lists what there is; set qos = "…" or --sbatch qos=…`},
	{"feature specification", `"sinfo -o %f" lists the features of nodes; change constraint`},
	{"generic resource", `"sinfo -o %G" lists the generic resources of nodes; change gres or gpus`},
	{"node configuration", `ask for fewer nodes or cores ("sinfo -o '%P %D %c %m %G'" lists what the partitions have)`},
	{"node count", `ask for fewer nodes ("sinfo -o '%P %D'" lists how many the partitions have)`},
	{"more processors", `ask for fewer threads ("sinfo -o '%P %c'" lists the cores of nodes)`},
	{"time limit", `ask for less time ("sinfo -o '%P %l'" lists the limits of the partitions)`},
	{"temporarily unavailable",
		`the queue of the cluster is full ("scontrol show config" has MaxJobCount): try again later, or let ` +
			`more cells share a task with --batch`},
	{"unable to accept job",
		`the queue of the cluster is full: try again later, or let more cells share a task with --batch`},
	{"job array specification", `let more cells share a task with --batch`},
	{"unable to contact", "see whether the controller runs (\"scontrol ping\"), or ask the administrator of the cluster"},
	{"configuration source", "set SLURM_CONF to the cluster's slurm.conf, or start tfexp on a machine of the cluster"},
	{"clustername needs", "set SLURM_CONF to the cluster's slurm.conf"},
	{"s_p_parse_file", "set SLURM_CONF to the cluster's slurm.conf"},
	{"did not answer", "see whether the controller runs (\"scontrol ping\"), or ask the administrator of the cluster"},
}

// Hint suggests a remedy for an error; a general one for unknown errors.
func Hint(err error) string {
	text := strings.ToLower(err.Error())
	for _, a := range advice {
		if strings.Contains(text, a.part) {
			return a.hint
		}
	}
	return `"tfexp doctor" looks at the cluster`
}

// AgainText reports whether an error of srun means that a step may be started later: the controller is away, or it was
// restarted and does not know its nodes yet.
func AgainText(text string) bool {
	text = strings.ToLower(text)
	return AwayText(text) || slices.ContainsFunc([]string{"memory required by task is not available", "nodes are busy",
		"unable to create step for job", "required node not available",
	}, func(s string) bool { return strings.Contains(text, s) }) && !slices.ContainsFunc([]string{"invalid job id",
		"expired", "already completing", "access/permission"}, func(s string) bool { return strings.Contains(text, s) })
}

// Quote writes a word for the shell.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// EngineName is the engine's name in experiments, and the batch system's name in --on.
const EngineName = "slurm"

// SharedFolderPatience is how long to wait for a node that checks whether the folder of results is shared.
const SharedFolderPatience = 5 * time.Second

// Unavailable returns the error that something is unavailable, with a hint.
func Unavailable(err error, hint string) error {
	return &engine.Unavailable{Engine: EngineName, Err: err, Hint: hint}
}

// Explained turns an error of the cluster into an error with a remedy; nil for nil.
func Explained(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*engine.Unavailable)):
		return err
	case errors.Is(err, ErrNotShared):
		return Unavailable(err, SharedHint)
	case slurmcmd.Missing() != nil:
		return Unavailable(err, slurmcmd.MissingHint)
	}
	return Unavailable(err, Hint(err))
}

// Request is a job's request to the cluster. Fields that are empty are left to the site.
type Request struct {
	Name                                string
	Partition, Account, QOS, Constraint string
	GRES                                string
	Nodes, Threads                      int // Threads are the cores of each node, or of each task
	Memory                              int64
	Time                                time.Duration
	Whole                               bool // nodes are not shared with other jobs
	More                                map[string]string
}

// Args are the request as arguments of sbatch and salloc. The arguments of More come last and win; one without a value
// is a flag.
func (r Request) Args() []string {
	var args []string
	add := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	add("job-name", r.Name)
	add("partition", r.Partition)
	add("account", r.Account)
	add("qos", r.QOS)
	add("constraint", r.Constraint)
	add("gres", r.GRES)
	if r.Nodes > 0 {
		add("nodes", strconv.Itoa(r.Nodes))
		add("ntasks", strconv.Itoa(r.Nodes))
		add("ntasks-per-node", "1")
	} else {
		add("nodes", "1")
		add("ntasks", "1")
	}
	if r.Threads > 0 {
		add("cpus-per-task", strconv.Itoa(r.Threads))
	}
	if r.Memory > 0 {
		add("mem", fmt.Sprintf("%dM", (r.Memory+1<<20-1)>>20))
	}
	if r.Time > 0 {
		add("time", Limit(r.Time))
	}
	if r.Whole {
		args = append(args, "--exclusive")
	}
	for _, name := range slices.Sorted(maps.Keys(r.More)) {
		if value := r.More[name]; value != "" {
			add(name, value)
		} else {
			args = append(args, "--"+name)
		}
	}
	return args
}

// Partition is a partition of the cluster. A limit of 0 means no limit.
type Partition struct {
	Name            string
	Default, Up     bool
	Nodes, MaxNodes int
	MaxTime         time.Duration
}

// Partitions asks the controller for all partitions: one call.
func Partitions(ctx context.Context) ([]Partition, error) {
	out, err := slurmcmd.Run(ctx, 30*time.Second, "scontrol", "show", "partition", "--oneliner")
	if err != nil {
		return nil, err
	}
	var all []Partition
	for line := range strings.Lines(out) {
		f := Fields(line)
		if f["PartitionName"] == "" {
			continue
		}
		p := Partition{Name: f["PartitionName"], Default: f["Default"] == "YES", Up: f["State"] == "UP"}
		p.Nodes, _ = strconv.Atoi(f["TotalNodes"])
		p.MaxNodes, _ = strconv.Atoi(f["MaxNodes"])
		if limit, ok := ParseTime(f["MaxTime"]); ok && limit != Unlimited {
			p.MaxTime = limit
		}
		all = append(all, p)
	}
	return all, nil
}

// Fields are the "Name=value" pairs of a line.
func Fields(line string) map[string]string {
	f := map[string]string{}
	for _, field := range strings.Fields(line) {
		if name, value, ok := strings.Cut(field, "="); ok {
			f[name] = value
		}
	}
	return f
}

// ErrNoPartition is wrapped when there is no partition to submit to.
var ErrNoPartition = errors.New("partition name: there is none")

// CheckClient asks whether a request could ever be granted: two calls of the controller, and nothing is queued. The
// error describes the problem, and Hint suggests a remedy.
func CheckClient(ctx context.Context, r Request) error {
	if err := slurmcmd.Missing(); err != nil {
		return err
	}
	all, err := Partitions(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(p Partition) bool { return p.Name == r.Partition || r.Partition == "" && p.Default })
	if i < 0 && !strings.Contains(r.Partition, ",") {
		names := schema.Each(all, func(p Partition) string { return p.Name })
		if r.Partition == "" {
			return fmt.Errorf("default %w; there are %s", ErrNoPartition, strings.Join(names, ", "))
		}
		return fmt.Errorf("%w called %q; there are %s", ErrNoPartition, r.Partition, strings.Join(names, ", "))
	}
	if i >= 0 {
		if err := all[i].holds(r); err != nil {
			return err
		}
	}
	args := append([]string{"--test-only"}, r.Args()...)
	for try := range 3 {
		_, err = slurmcmd.Run(ctx, time.Minute, "sbatch", append(args, "--wrap", "true")...)
		if err == nil || ctx.Err() != nil || try == 2 || !strings.Contains(err.Error(), "node configuration") {
			break
		}
		time.Sleep(Jitter(2 * time.Second)) // nodes may be about to come back
	}
	return err
}

// holds returns an error if a partition does not allow the request.
func (p Partition) holds(r Request) error {
	nodes := max(r.Nodes, 1)
	switch {
	case !p.Up:
		return fmt.Errorf("partition name %q takes no jobs now: it is not up", p.Name)
	case nodes > p.Nodes:
		return fmt.Errorf("node count: %d nodes are asked for, and the partition %q has %d", nodes, p.Name, p.Nodes)
	case p.MaxNodes > 0 && nodes > p.MaxNodes:
		return fmt.Errorf("node count: %d nodes are asked for, and a job in the partition %q may have %d",
			nodes, p.Name, p.MaxNodes)
	case p.MaxTime > 0 && r.Time > p.MaxTime:
		return fmt.Errorf("time limit: %s are asked for, and a job in the partition %q may have %s", r.Time, p.Name,
			p.MaxTime)
	}
	return nil
}

// ErrNotShared is wrapped when a node does not see a folder of this machine.
var ErrNotShared = errors.New("the folder is not shared with the nodes")

// ErrBusy is wrapped when no node was free to look.
var ErrBusy = errors.New("no node was free to look")

// SharedHint is the remedy for that.
const SharedHint = "put results on a file system that all nodes mount, with --out (often your home or a scratch " +
	"folder; /tmp seldom is one)"

// CheckShared has a node of the request read a file in a folder of this machine, write one there, and look for a
// program: one short job. It returns ErrBusy when no node is free for that within patience.
func CheckShared(ctx context.Context, r Request, dir, program string, patience time.Duration) error {
	probe, err := NewProbe(dir)
	if err != nil {
		return err
	}
	defer probe.Close()
	r.Name, r.Nodes, r.Threads, r.Whole, r.Memory, r.Time, r.GRES = "tfexp-probe", 1, 1, false, 0, time.Minute, ""
	seconds := max(1, int(patience/time.Second))
	args := append(r.Args(), "--immediate="+strconv.Itoa(seconds), "--quiet", "--input=none", "--chdir=/")
	args = append(args, probe.Command(program)...)
	out, err := slurmcmd.Run(ctx, patience+30*time.Second, "srun", args...)
	return probe.Judge(out, err)
}

// Probe is a check of a folder from another machine.
type Probe struct{ dir, token string }

// NewProbe writes a file into a folder, for another machine to find.
func NewProbe(dir string) (*Probe, error) {
	f, err := folder.CreateTemp(dir, ".probe-")
	if err != nil {
		return nil, fmt.Errorf("look whether the folder is shared: %w", err)
	}
	if _, err := f.WriteString("tfexp\n"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Probe{dir: dir, token: f.Name()}, f.Close()
}

// Command is the command of a node: it prints "seen" if it could read the file and write another, and "program" if the
// program exists as well. An empty program is not checked.
func (p *Probe) Command(program string) []string {
	script := `test "$(cat "$1" 2>/dev/null)" = tfexp && echo tfexp 2>/dev/null >"$1.back" && echo seen
test -z "$2" || test -x "$2" && echo program; true`
	return []string{"/bin/sh", "-c", script, "sh", p.token, program}
}

// Judge reads the answer of a node.
func (p *Probe) Judge(out string, err error) error {
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrBusy, err)
	}
	back, _ := folder.ReadFile(filepath.Split(p.token + ".back"))
	switch {
	case !strings.Contains(out, "seen") || string(back) != "tfexp\n":
		return fmt.Errorf("%w: %s is another one there, or missing", ErrNotShared, p.dir)
	case !strings.Contains(out, "program"):
		return fmt.Errorf("%w: the nodes do not have the program tfexp where it is here", ErrNotShared)
	}
	return nil
}

// Path is the file to read.
func (p *Probe) Path() string { return p.token }

// Close removes its files.
func (p *Probe) Close() {
	for _, name := range []string{p.token, p.token + ".back"} {
		folder.Remove(filepath.Clean(name))
	}
}
