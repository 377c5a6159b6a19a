package describe

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

func Policy(c experiments.Cell) record.Named { return record.Named{Summary: c.Policy.Policy.String()} }

func Hardware(c experiments.Cell) record.Named {
	h := c.Hardware
	cores, gpus := 0, 0
	for _, n := range h.Cluster.Nodes {
		cores += n.Threads
		gpus += n.GPUs
	}
	s := fmt.Sprintf("%s engine, %s", h.Engine, plural(cores, "core"))
	if gpus > 0 {
		s += ", " + plural(gpus, "GPU")
	}
	if n := len(h.Cluster.Nodes); n > 1 {
		s += fmt.Sprintf(" on %d nodes", n)
	}
	if h.Contention != nil {
		s += ", contention " + contentionText(h.Contention)
	}
	return record.Named{Summary: s, Nodes: nodes(h.Cluster.Nodes)}
}

// mostNodes bounds the nodes that a plan names: more could not be told apart in a picture.
const mostNodes = 1000

// nodes are the nodes of a cluster; none where there is one, or too many.
func nodes(of []scheduler.Node) []record.NodeRef {
	if len(of) < 2 || len(of) > mostNodes {
		return nil
	}
	out := make([]record.NodeRef, len(of))
	for i, n := range of {
		out[i] = record.NodeRef{Name: n.Name, Cores: n.Threads, GPUs: n.GPUs}
	}
	return out
}

func Workload(c experiments.Cell) record.Named {
	var parts []string
	if t := c.Workload.Trace; t != nil {
		s := fmt.Sprintf("%s of %s (%s)", plural(len(t.Jobs), "job"), filepath.Base(t.File), t.Format)
		for _, set := range t.Settings {
			s += fmt.Sprintf(", %s %s", strings.ReplaceAll(set.Name, "_", " "), set.Value)
		}
		if t.Ignored > 0 {
			s += fmt.Sprintf(", without %s of partial executions and cancelled jobs", plural(t.Ignored, "line"))
		}
		parts = append(parts, s)
	}
	for _, s := range c.Workload.Submits {
		what := s.Job.Builtin
		switch {
		case s.Job.Recorded != nil:
			what = "recorded"
		case what == "":
			what = s.Job.Command[0]
		}
		parts = append(parts, fmt.Sprintf("%d × %s (%s, %s, %s), %s", s.Count, s.Job.Name, what,
			lengthText(s),
			plural(s.Job.Threads.Request, "thread"), arrivalText(s.Arrivals)))
	}
	return record.Named{Summary: strings.Join(parts, "; "), Log: c.Workload.Trace != nil && len(c.Workload.Submits) == 0}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lengthText is how much the jobs of a submit block train: "20 epochs", "a budget of 400s".
func lengthText(s experiments.Submit) string {
	var parts []string
	if !s.Job.Open() {
		parts = append(parts, plural(program.Length(s.Job), strings.TrimSuffix(program.LengthUnit(s.Job), "s")))
	}
	if s.Budget != nil {
		parts = append(parts, "a budget of "+s.Budget.String())
	}
	return strings.Join(parts, ", ")
}

// Each lists the workloads, hardware or policies that the cells use, each once,
// with a line that describes it; a block that reads axes is described as it is in
// its first cell.
func Each(
	spec *experiments.Spec, name func(experiments.Cell) string, describe func(experiments.Cell) record.Named,
) []record.Named {
	var out []record.Named
	seen := map[string]bool{}
	for _, c := range spec.Cells {
		if name := name(c); !seen[name] {
			seen[name] = true
			n := describe(c)
			n.Name, n.Summary = name, plain(n.Summary)
			out = append(out, n)
		}
	}
	return out
}

// Parts of durations that say nothing: the minutes and seconds of 16h0m0s, the seconds of 8m0s.
var (
	emptySeconds = regexp.MustCompile(`\b((?:\d+h)?\d+m)0s\b`)
	emptyMinutes = regexp.MustCompile(`\b(\d+h)0m\b`)
)

// plain writes the durations of a text as people do. Keys have them as they are: other results would be other keys.
func plain(text string) string {
	return emptyMinutes.ReplaceAllString(emptySeconds.ReplaceAllString(text, "$1"), "$1")
}

// The names of blocks that a cell uses.
func WorkloadName(c experiments.Cell) string { return c.Workload.Name }
func HardwareName(c experiments.Cell) string { return c.Hardware.Name }
func PolicyName(c experiments.Cell) string   { return c.Policy.Name }
