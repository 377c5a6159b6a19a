package certain

import (
	"embed"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// certainArgs are the arguments of a certain block.
//
// Adds replicates, up to `replicates`, until every comparison is decided: one side is better, or both are the same
// within the given share. A comparison that is decided gets no more replicates. Results are looked at after 3
// replicates, after each of the next ones, and then after a quarter more each time; the intervals and verdicts of all
// looks together have the level of the comparison (docs/statistics.md).
//
//	experiment "study" {
//	  replicates = 40 # at most
//	  certain { within = "5%" }
//	}
type certainArgs struct {
	// The largest difference that does not matter: if the interval of a ratio is within it, both sides are the same.
	//
	//	within = "10%"
	Within float64 `arg:"within" type:"share" default:"0.05" min:"0.0001" max:"0.9"`
	// The metrics whose comparisons must be decided before replicates end. Other metrics are compared with the same
	// replicates.
	//
	// Default: all that are compared.
	//
	//	metrics = ["mean_waiting"]
	Metrics []string `arg:"metrics"`
	// The longest total time of all cells. Then no further replicates begin, and the report names the undecided
	// comparisons.
	//
	// Default: no end.
	//
	//	time = "30m"
	Time time.Duration `arg:"time,positive"`
	// Whether a policy that is worse in one comparison gets no more replicates.
	//
	//	drop_losers = true
	DropLosers bool `arg:"drop_losers" default:"false"`
}

//go:embed block.go
var source embed.FS

var _ = schema.Document("certain", source)

func init() {
	language.Extend("certain", language.Experiment, language.Extension[experiment.Spec]{
		Blocks: func() []*schema.Block {
			return []*schema.Block{schema.BlockFor[certainArgs](schema.Block{Name: "certain", Single: true})}
		},
	})
	language.Extend("certain", language.File, language.Extension[experiment.Spec]{CheckCells: once, AfterCells: decode})
}

// Rule defines when comparisons are decided.
type Rule struct {
	Within     float64  `json:"within"`
	Metrics    []string `json:"metrics,omitempty"`
	Seconds    float64  `json:"time_s,omitempty"` // 0: no limit
	DropLosers bool     `json:"drop_losers,omitempty"`
}

// certain is the experiment's part for its certain block.
type certain struct {
	Rule
	level    float64          // confidence level of estimates
	compares []record.Compare // comparisons that must be decided
	looks    []int            // numbers of replicates at which results are checked
	added    []int            // the last of looks, which are after added replicates
}

// decode decodes the block and sets the numbers of replicates at which comparisons are checked.
func decode(d *language.Decoder, s *experiment.Spec) {
	file := d.Root.First("experiment")
	if file == nil || file.First("certain") == nil {
		return
	}
	n := file.First("certain")
	var v certainArgs
	a := d.Decode(n, d.Global, &v)
	if !a.OK || d.Failed() {
		return
	}
	switch s.Compares = s.Compared(); {
	case len(s.Compares) == 0:
		a.Fail(n.Header, "Nothing to decide", "%s repeats cells until comparisons are decided, but the file compares "+
			"nothing: add a compare block or a second policy.", n.Title())
		return
	case s.Replicates < stats.MinPairs:
		at := n.Header
		if set := file.Attr("replicates"); set != nil {
			at = set.Range
		}
		a.Fail(at, "Too few replicates", "%s decides comparisons, which takes at least %d replicates, and there are at "+
			"most %d: set replicates to more, or leave %[1]s out.", n.Title(), stats.MinPairs, s.Replicates)
		return
	}
	c := certain{Rule: Rule{Within: v.Within, Seconds: v.Time.Seconds(), DropLosers: v.DropLosers},
		level: s.Estimate.Level, looks: stats.Looks(s.Replicates)}
	known := map[string]bool{}
	for i := range s.Compares {
		s.Compares[i].Looks = c.looks
		known[s.Compares[i].Metric] = true
	}
	for _, name := range v.Metrics {
		metric := d.Metric(name, a.At("metrics"))
		switch {
		case metric == "":
			return
		case !known[metric]:
			a.Fail(a.At("metrics"), "Metric is not compared", "%s decides comparisons, and no compare block has %q.",
				n.Title(), name)
			return
		}
		c.Metrics = append(c.Metrics, metric)
	}
	for _, o := range s.Compares {
		if one := stages.PlannedCompare(o); o.By == "" && c.decides(o.Metric) {
			one.Block = 0 // block resampling works only within a single run
			c.compares = append(c.compares, one)
		}
	}
	if len(c.compares) == 0 {
		a.Fail(n.Header, "Nothing to decide", "All comparisons of %s are of groups of jobs; it needs one of all jobs.",
			n.Title())
		return
	}
	s.Parts = append(s.Parts, c)
}
