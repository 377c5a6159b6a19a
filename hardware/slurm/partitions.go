package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
)

// Partition is a partition of the cluster. A limit of 0 means no limit.
type Partition struct {
	Name            string
	Default, Up     bool
	Nodes, MaxNodes int
	MaxTime         time.Duration
}

// Partitions asks the controller for all partitions. It makes one call.
func Partitions(ctx context.Context) ([]Partition, error) {
	out, err := slurmcmd.Run(ctx, 30*time.Second, "scontrol", "show", "partition", "--oneliner")
	if err != nil {
		return nil, err
	}
	var all []Partition
	for line := range strings.Lines(out) {
		f := ParseFields(line)
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

// ParseFields returns the "name=value" pairs of a line.
func ParseFields(line string) map[string]string {
	f := map[string]string{}
	for field := range strings.FieldsSeq(line) {
		if name, value, ok := strings.Cut(field, "="); ok {
			f[name] = value
		}
	}
	return f
}

// ErrNoPartition is wrapped by errors that say that the cluster has no partition to submit to.
var ErrNoPartition = errors.New("no valid partition name")

// CheckRequest checks whether the cluster could ever grant a request. It makes two calls and queues nothing. The error
// describes the problem, and Hint suggests a remedy.
func CheckRequest(ctx context.Context, r Request) error {
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
			return fmt.Errorf("%w: no default partition is set; name one of "+
				"%s", ErrNoPartition, strings.Join(names, ", "))
		}
		return fmt.Errorf("%w: none is called %q; the partitions are "+
			"%s", ErrNoPartition, r.Partition, strings.Join(names, ", "))
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
		time.Sleep(RandomizeDuration(2 * time.Second)) // nodes may be about to return
	}
	return err
}

// holds returns an error if a request exceeds a limit of the partition.
func (p Partition) holds(r Request) error {
	nodes := max(r.Nodes, 1)
	switch {
	case !p.Up:
		return fmt.Errorf("partition name %q: the partition is not up, so it takes no jobs now", p.Name)
	case nodes > p.Nodes:
		return fmt.Errorf("node count: the request is for %d nodes, but the partition %q has "+
			"%d", nodes, p.Name, p.Nodes)
	case p.MaxNodes > 0 && nodes > p.MaxNodes:
		return fmt.Errorf("node count: the request is for %d nodes, but a job in the partition %q may have at most %d",
			nodes, p.Name, p.MaxNodes)
	case p.MaxTime > 0 && r.Time > p.MaxTime:
		return fmt.Errorf("time limit: the request is for %s, but a job in the partition %q may have at most "+
			"%s", r.Time, p.Name,
			p.MaxTime)
	}
	return nil
}
