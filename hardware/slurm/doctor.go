package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
)

// doctor checks the cluster: its commands, its controller, its partitions, and whether a node sees the current folder.
func doctor(ctx context.Context) []hardware.Check {
	c := hardware.Check{Name: kindName, Status: hardware.OK}
	// Most machines do not belong to a cluster, so missing commands are no error.
	if err := slurmcmd.Missing(); err != nil {
		c.Text, c.Hint = err.Error()+": the engine \"slurm\" and --on slurm cannot be used", slurmcmd.MissingHint
		c.Status = hardware.Warn
		return []hardware.Check{c}
	}
	all, err := Partitions(ctx)
	if err != nil {
		c.Status, c.Text, c.Hint = hardware.Warn, "the controller does not answer: "+err.Error(), Hint(err)
		return []hardware.Check{c}
	}
	best, nodes := "", 0
	for _, p := range all {
		nodes = max(nodes, p.Nodes)
		if p.Default && p.Up {
			best = p.Name
		}
	}
	switch {
	case len(all) == 0 || nodes == 0:
		c.Status, c.Text = hardware.Warn, "the cluster has no partition with nodes"
		c.Hint = "ask the administrator of the cluster which partition you may use"
		return []hardware.Check{c}
	case best == "":
		c.Status, c.Text = hardware.Warn, fmt.Sprintf("%d partitions, none of which is the default and up", len(all))
		c.Hint = Hint(errors.New("partition name"))
		best = all[0].Name
	default:
		c.Text = fmt.Sprintf("the controller answers; %d partitions, the default one is %s", len(all), best)
	}
	return []hardware.Check{c, shared(ctx, best)}
}

// doctorPatience is how long doctor waits for a node.
const doctorPatience = 10 * time.Second

// shared has a node of the partition check whether it sees the current folder.
func shared(ctx context.Context, partition string) hardware.Check {
	c := hardware.Check{Name: "slurm folder", Status: hardware.OK}
	dir, err := os.Getwd()
	if err == nil {
		var program string
		if program, err = hardware.Program(); err == nil {
			err = CheckSharedFolder(ctx, Request{Partition: partition}, dir, program, doctorPatience)
		}
	}
	switch {
	case errors.Is(err, ErrNotShared):
		c.Status, c.Text, c.Hint = hardware.Warn, err.Error(), SharedFolderHint
	case errors.Is(err, ErrBusy):
		c.Status, c.Text = hardware.Warn, "it is unknown whether nodes see "+dir+": "+err.Error()
		c.Hint = "run tfexp doctor again when a node is free"
	case err != nil:
		c.Status, c.Text, c.Hint = hardware.Warn, err.Error(), "choose another folder"
	default:
		c.Text = "a node reads and writes " + dir
	}
	return c
}
