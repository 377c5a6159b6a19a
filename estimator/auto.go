package estimator

import (
	"errors"
	"fmt"
)

// Auto is the first model that can be fitted of history, scaling and linear: the one that uses the most data.
//
// On the corpus of run times, scaling errs as much as linear (their errors differ by less than a fiftieth), so that
// choosing one by its errors on left-out samples gains nothing.
type Auto struct{}

// Name is "auto".
func (Auto) Name() string { return "auto" }

// Fit returns the estimate of the chosen model, under that model's name.
func (Auto) Fit(p Problem) (Estimate, error) {
	var failures []error
	for _, m := range []Model{History{}, Scaling{}, Linear{}} {
		e, err := m.Fit(p)
		if err == nil {
			return e, nil
		}
		failures = append(failures, err)
	}
	return Estimate{}, fmt.Errorf("fit auto: no model can be fitted: %w", errors.Join(failures...))
}
