package estimator

import (
	"fmt"
	"math"
)

// History fits the model scaling, or linear if that fails, and corrects it by past runs of the job on the resource
// (see Corrections).
type History struct{}

// Name is "history".
func (History) Name() string { return "history" }

// historyLevel is the level of the intervals from which the spread of runs around their samples is computed.
const historyLevel = 0.9

// Fit needs a finished run of the job on the resource, and the samples that scaling or linear need.
func (History) Fit(p Problem) (Estimate, error) {
	e, err := Scaling{}.Fit(p)
	if err != nil {
		e, err = Linear{}.Fit(p)
	}
	if err != nil {
		return e, err
	}
	var learned Corrections
	for _, r := range p.History {
		if r.Seconds > 0 && r.Length > 0 && r.Job == p.Job && r.Resource.Is(e.Resource) {
			q := e.Predict(r.Length, historyLevel)
			learned.Learn(Ran{r.Job, q.LogSD(historyLevel), []float64{math.Log(r.Seconds / q.Seconds)}})
		}
	}
	expected, variance := learned.expect(p.Job, 0)
	if learned.runs == 0 {
		return Estimate{}, fmt.Errorf("fit history: no finished run of this job: %w", ErrUnfit)
	}
	e = e.Times(math.Exp(expected))
	e.Model = "history"
	e.SlopeSE, e.InterceptSE = e.Slope*math.Sqrt(variance), e.Intercept*math.Sqrt(variance)
	e.PaceSD, e.PaceDF, e.DF = math.Sqrt(learned.ofRuns), learned.df, learned.df
	return e, nil
}
