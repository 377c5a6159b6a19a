package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request is what a job asks of the cluster. Fields that are empty are left to the site.
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

// Args are the request as arguments of sbatch and salloc. Those of More come last and win; one without a value is a
// flag.
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

// Partition is a partition of the cluster. A limit of 0 is none.
type Partition struct {
	Name            string
	Default, Up     bool
	Nodes, MaxNodes int
	MaxTime         time.Duration
}

// Partitions asks the controller for all partitions: one call.
func Partitions(ctx context.Context) ([]Partition, error) {
	out, err := RunCommand(ctx, 30*time.Second, "scontrol", "show", "partition", "--oneliner")
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

// Check asks whether a request could ever be granted: two calls of the controller, and nothing is queued. The error
// says what is wrong, and Hint what to do about it.
func CheckClient(ctx context.Context, r Request) error {
	if err := Missing(); err != nil {
		return err
	}
	all, err := Partitions(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(p Partition) bool { return p.Name == r.Partition || r.Partition == "" && p.Default })
	if i < 0 && !strings.Contains(r.Partition, ",") {
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
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
		_, err = RunCommand(ctx, time.Minute, "sbatch", append(args, "--wrap", "true")...)
		if err == nil || ctx.Err() != nil || try == 2 || !strings.Contains(err.Error(), "node configuration") {
			break
		}
		time.Sleep(Jitter(2 * time.Second)) // nodes may be about to come back
	}
	return err
}

// holds reports what a partition does not allow.
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

// SharedHint says what to do about that.
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
	out, err := RunCommand(ctx, patience+30*time.Second, "srun", args...)
	return probe.Judge(out, err)
}

// Probe is a look at a folder from elsewhere.
type Probe struct{ dir, token string }

// NewProbe writes a file to look for into a folder.
func NewProbe(dir string) (*Probe, error) {
	f, err := os.CreateTemp(dir, ".probe-")
	if err != nil {
		return nil, fmt.Errorf("look whether the folder is shared: %w", err)
	}
	if _, err := f.WriteString("tfexp\n"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Probe{dir: dir, token: f.Name()}, f.Close()
}

// Command is what a node runs: it prints "seen" when it could read the file and write another, and "program" when the
// program is there as well; an empty program is not looked for.
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
	back, _ := os.ReadFile(p.token + ".back")
	switch {
	case !strings.Contains(out, "seen") || string(back) != "tfexp\n":
		return fmt.Errorf("%w: %s is another one there, or missing", ErrNotShared, p.dir)
	case !strings.Contains(out, "program"):
		return fmt.Errorf("%w: the nodes do not have the program tfexp where it is here", ErrNotShared)
	}
	return nil
}

// Path is the file that is to be read.
func (p *Probe) Path() string { return p.token }

// Close removes its files.
func (p *Probe) Close() {
	for _, name := range []string{p.token, p.token + ".back"} {
		os.Remove(filepath.Clean(name))
	}
}
