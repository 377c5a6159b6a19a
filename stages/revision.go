package stages

import (
	"slices"

	"github.com/tfexp/tfexp/stages/experiment"
)

// Earlier describes an experiment's last run, while the next run is planned.
type Earlier struct {
	// Dir is the folder of the last run's results. It may not exist.
	Dir string
	// Fresh is set if nothing of the last run is used.
	Fresh bool
	// Asked has requests of this run to features. Each has a type of the feature.
	Asked experiment.Parts
}

// Revision changes an experiment according to its last run, before its cells are created.
type Revision func(*experiment.Spec, Earlier) error

var revisions []Revision

// RegisterRevision registers the revision of a feature.
func RegisterRevision(r Revision) { revisions = append(revisions, r) }

// Revised returns an experiment after the revisions of all features.
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
