package certain

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// More is a request to add replicates to a finished experiment.
type More struct {
	N int
	// Refuse returns the error for an experiment to which replicates cannot be added.
	Refuse func(hint, format string, args ...any) error
}

func init() { stages.RegisterRevision(revise) }

// Added describes the replicates that were added to a finished experiment.
type Added struct {
	First int   `json:"first"` // replicates in the experiment file
	Ran   int   `json:"ran"`   // replicates that had run when some were first added
	To    []int `json:"to"`    // total number of replicates after each addition
}

// AddedTo is the member of plan.json about added replicates; nil if none were added.
var AddedTo = stages.RegisterPlanMember("added", 66, func(x stages.PlanMemberInput) *Added {
	a, _ := experiment.PartOf[*Added](x.Parts)
	return a
})

// revise adds replicates to an experiment: those that this run requests, and those that earlier runs have added. If the
// number of replicates in the file has changed, earlier additions are dropped.
func revise(s *experiment.Spec, last stages.Earlier) error {
	request, asks := experiment.PartOf[More](last.Asked)
	if last.Fresh {
		return nil
	}
	var plan struct {
		Added     *Added           `json:"added"`
		Variables []record.Setting `json:"variables"`
		Cells     []struct {
			Replicate int `json:"replicate"`
		} `json:"cells"`
	}
	err := folder.ReadJSON(last.Dir, &plan, record.PlanFile)
	added := plan.Added
	if err != nil || added != nil && added.First != s.Replicates {
		added = nil
	}
	if asks {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := request.refusal(s, last.Dir, err == nil && slices.Equal(plan.Variables, s.Variables)); err != nil {
			return err
		}
		ran := 0
		for _, c := range plan.Cells {
			ran = max(ran, c.Replicate)
		}
		if added == nil {
			added = &Added{First: s.Replicates, Ran: ran}
		}
		added.To = append(added.To, ran+request.N)
		if err := request.enoughRecords(s, ran+request.N); err != nil {
			return err
		}
	}
	if added != nil {
		added.apply(s)
	}
	return nil
}

// refusal returns an error if replicates cannot be added to the results of the experiment.
func (m *More) refusal(s *experiment.Spec, dir string, sameVariables bool) error {
	var run record.Run
	if err := folder.ReadJSON(dir, &run, record.RunFile); err != nil {
		return m.Refuse("run it without --more first",
			"--more adds to a finished experiment, and there are no results of %s in %s", s.Name, dir)
	}
	if run.State != record.CellFinished && run.State != record.CellFailed {
		return m.Refuse("continue it with: tfexp resume "+dir,
			"--more adds to a finished experiment, and the run in %s has not finished", dir)
	}
	name := record.ExperimentFile
	if strings.HasSuffix(s.File, ".json") {
		name += ".json"
	}
	if source, err := folder.ReadFile(dir, name); err != nil || !bytes.Equal(source, s.Source) || !sameVariables {
		return m.Refuse("run it without --more first",
			"--more adds to a finished experiment, and the file or its variables have changed since the run in %s", dir)
	}
	if len(s.Cells) > 0 && !slices.ContainsFunc(s.Cells, func(c experiment.Cell) bool { return !s.Fixed(c) }) {
		return m.Refuse("", "nothing in %s is drawn at random: more replicates would be the same", s.Name)
	}
	return nil
}

// enoughRecords returns an error if recorded runs are too few for this number of replicates.
func (m *More) enoughRecords(s *experiment.Spec, replicates int) error {
	for _, c := range s.Cells {
		if kind := c.Hardware.Kind(); kind.Recorded && kind.Records != nil {
			if have, jobs := kind.Records(c.Hardware.ForEngine()), c.Workload.Jobs(); have < jobs*replicates {
				return m.Refuse("", "the hardware %q has %s, too few for %s of %s", c.Hardware.Name,
					schema.Plural(have, "recorded run"), schema.Plural(replicates, "replicate"), schema.Plural(jobs, "job"))
			}
		}
	}
	return nil
}

// apply sets the number of replicates of an experiment, and adds a check of its comparisons after each addition.
func (a *Added) apply(s *experiment.Spec) {
	part, decides := experiment.PartOf[certain](s.Parts)
	var looks []int
	if decides {
		looks = slices.DeleteFunc(stats.Looks(a.First), func(n int) bool { return n >= a.Ran })
		looks = append(looks, a.Ran) // the run may have ended between two checks because of the time limit
	} else if a.First >= stats.MinPairs {
		looks = append(looks, a.First)
	}
	for _, n := range a.To {
		if n >= stats.MinPairs {
			looks = append(looks, n)
		}
	}
	planned := a.First
	if len(looks) > 0 {
		planned = max(planned, looks[0])
	}
	s.Replicates = max(s.Replicates, a.To[len(a.To)-1])
	s.Compares, part.compares = slices.Clone(s.Compared()), slices.Clone(part.compares)
	for i := range s.Compares {
		s.Compares[i].Looks, s.Compares[i].Planned = looks, planned
	}
	for i := range part.compares {
		part.compares[i].Looks, part.compares[i].Planned = looks, planned
	}
	part.looks, part.added = looks, a.To
	for i, p := range s.Parts {
		if _, ok := p.(certain); ok {
			s.Parts[i] = part
		}
	}
	s.Parts = append(s.Parts, a)
}
