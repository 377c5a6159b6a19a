package pipeline

import (
	"fmt"
	"os"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
)

// minReplicates is the smallest number of pairs for which a comparison has a verdict.
const minReplicates = 3

// warnAtStart writes the warnings of a run that are known before its first cell. cache is a warning about the cache;
// doubts and killed are about programs that an earlier run left behind.
func (r *run) warnAtStart(cache string, doubts, killed []string) {
	drawn := slices.ContainsFunc(r.Cells, func(c record.CellRef) bool { return !c.Fixed })
	if r.Replicates < minReplicates && len(r.Compares) > 0 && drawn {
		r.Warn(record.FewReplicates, "", fmt.Sprintf("%s: comparisons need at least %d replicates to give a verdict",
			schema.Plural(r.Replicates, "replicate"), minReplicates))
	}
	if cache != "" {
		r.Warn("cache", "", cache)
	}
	if other := r.otherFile(); other != "" {
		r.Warn("other_file", "", fmt.Sprintf("the folder held the results of another file with an experiment of this "+
			"name, %s: they are replaced, and come back when that file runs again; "+
			"to keep both, rename one of the experiments or choose another folder with --out", other))
	}
	for _, name := range r.x.Spec.Alike() {
		r.Warn("alike_replicates", "", fmt.Sprintf("the replicates of %s are all alike, because nothing in it is "+
			"drawn at random: they count as one, so replicates = 1 is enough", name))
	}
	for _, text := range r.x.Spec.LeftOut() {
		r.Warn("incomplete_trace", "", text)
	}
	for _, text := range r.x.Spec.Assumed() {
		r.Warn("assumption", "", text)
	}
	for _, text := range doubts {
		r.Warn("leftover", "", text)
	}
	for _, k := range killed {
		r.Warn("leftover", "", "ended "+k+", left behind by an earlier run")
	}
}

// otherFile returns the path of the experiment file whose results are in the folder, if it still exists and is not
// the plan's file; otherwise "".
func (p *Plan) otherFile() string {
	last, err := readRun(p.Dir)
	if err != nil || last.File == "" {
		return ""
	}
	own, err := os.Stat(p.x.Spec.File)
	if err != nil {
		return ""
	}
	other, err := os.Stat(last.File)
	if err != nil || os.SameFile(own, other) {
		return ""
	}
	return last.File
}
