package formats

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
)

// requests reads the request of a job.
func (t *table) requests(j *scheduler.Job, fields []string) error {
	parts := 1.0
	if t.timesI >= 0 {
		if n, err := strconv.ParseFloat(strings.TrimSpace(fields[t.timesI]), 64); err == nil && n >= 1 {
			parts = n
		}
	}
	nodes, err := t.whole(fields, FactNodes, 1, 1)
	if err != nil {
		return err
	}
	gpus, err := t.gpus(fields, parts, nodes)
	if err != nil {
		return err
	}
	if t.CPUScale > 0 {
		parts *= t.CPUScale
	}
	threads, err := t.whole(fields, FactThreads, 0, parts)
	if err != nil {
		return err
	}
	if threads == 0 {
		threads = max(gpus*t.args.ThreadsPerGPU, 1)
	}
	if most := t.args.GPUsPerNode; most > 0 && gpus > most*max(nodes, 1) {
		for nodes = (gpus + most - 1) / most; gpus%nodes != 0; {
			nodes++
		}
	}
	if t.partI >= 0 && gpus == 1 {
		if part, err := strconv.ParseFloat(strings.TrimSpace(fields[t.partI]), 64); err == nil && part < 1000 {
			t.parts++
		}
	}
	j.GPUs, j.Threads = gpus, threads
	if nodes > 1 { // every node needs the same number
		if gpus%nodes != 0 {
			return fmt.Errorf("%d GPUs cannot be divided evenly over %d nodes", gpus, nodes)
		}
		j.Nodes = nodes
		j.Threads = (threads + nodes - 1) / nodes * nodes
	}
	if text, ok := t.text(fields, FactMemory); ok {
		parse := logs.ParseMemory
		if t.Layout.Memory != nil {
			parse = t.Layout.Memory
		}
		bytes, each, err := parse(text, t.args.MemoryUnit)
		if err != nil {
			return err
		}
		switch each {
		case 'c':
			bytes *= int64(j.Threads)
		case 'n':
			bytes *= int64(max(nodes, 1))
		}
		j.Memory = bytes
	}
	batch, err := t.whole(fields, FactBatch, 0, 1)
	if err != nil {
		return err
	}
	if batch > 0 {
		j.Own().Batch = batch
	}
	if j.Priority, err = t.whole(fields, FactPriority, -1, 1); err != nil {
		return err
	}
	return nil
}

// whole reads a whole number. With a scale, it reads a number of fractions, and rounds the sum up. It returns none
// if the file has no value.
func (t *table) whole(fields []string, fact string, none int, scale float64) (int, error) {
	text, ok := t.text(fields, fact)
	if !ok {
		return none, nil
	}
	number := text
	if fact == FactNodes && t.Slurm { // "1-4" while the number is not known: use the least
		number, _, _ = strings.Cut(text, "-")
	}
	x, err := t.amount(fact, number)
	if err != nil || !(x >= 0) || x*scale > workload.MaxThreads {
		return 0, fmt.Errorf("%s %q is not a number from 0", t.named[fact], text)
	}
	return int(math.Ceil(x*scale - 1e-9)), nil
}

// amount reads a number of things, and records whether it is in percent.
func (t *table) amount(fact, text string) (float64, error) {
	x, err := count(text)
	if err != nil && t.Count != nil {
		if n, large := t.Count(text); large == nil {
			x, err = float64(n), nil
		}
	}
	if err == nil && x > 0 {
		if t.percent == nil {
			t.percent = map[string]*[2]int{}
		}
		if t.percent[fact] == nil {
			t.percent[fact] = &[2]int{}
		}
		first := &t.percent[fact][0]
		if strings.HasSuffix(text, "%") {
			first = &t.percent[fact][1]
		}
		*first = cmp.Or(*first, t.line)
	}
	return x, err
}

// gpus reads a number of GPUs, or a list of resources that has one ("cpu=4,gres/gpu:a100=2"; in "gres:gpu:2" for
// each node).
func (t *table) gpus(fields []string, parts float64, nodes int) (int, error) {
	text, ok := t.text(fields, FactGPUs)
	if !ok {
		return 0, nil
	}
	scale := parts
	if t.GPUScale > 0 {
		scale *= t.GPUScale
	}
	x, err := t.amount(FactGPUs, text)
	if err != nil {
		if n, ok := distinct(text); ok && n <= workload.MaxThreads {
			if !t.commas && decimalComma.MatchString(text) {
				return 0, fmt.Errorf("%s %q may be two GPUs, or a number with a decimal comma", t.named[FactGPUs], text)
			}
			return n, nil
		}
		if strings.ContainsAny(text, "=:/") || strings.HasPrefix(text, "gpu") {
			if strings.Contains(text, "shard") || strings.Contains(text, "mps") {
				t.shards++
			}
			if t.Layout.GPUs != nil {
				return t.Layout.GPUs(text, nodes)
			}
			return resourceGPUs(text, nodes)
		}
		return 0, fmt.Errorf("%s %q is not a number", t.named[FactGPUs], text)
	}
	if !(x >= 0) || x*scale > workload.MaxThreads {
		return 0, fmt.Errorf("%s %q is not a number from 0", t.named[FactGPUs], text)
	}
	return int(math.Ceil(x*scale - 1e-9)), nil
}
