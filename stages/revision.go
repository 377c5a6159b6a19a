package stages

import (
	"slices"

	"github.com/tfexp/tfexp/stages/experiment"
)

// Earlier describes an experiment's last run to features while the next run is planned.
type Earlier struct {
	// Dir is the folder of its results, which may not exist.
	Dir string
	// Fresh is set where nothing of it is used.
	Fresh bool
	// Asked are requests for this run, each of a type of the feature that it is for.
	Asked experiment.Parts
}

// Revision changes an experiment by its last run, before its cells are made.
type Revision func(*experiment.Spec, Earlier) error

var revisions []Revision

// RegisterRevision adds the revision of a feature.
func RegisterRevision(r Revision) { revisions = append(revisions, r) }

// Revised is an experiment as features change it by its last run.
func Revised(spec *experiment.Spec, last Earlier) (*experiment.Spec, error) {
	s := *spec
	s.Compares, s.Parts = slices.Clone(s.Compares), slices.Clone(s.Parts)
	for _, revise := range revisions {
		if err := revise(&s, last); err != nil {
			return nil, err
		}
	}
	return &s, nil
}
