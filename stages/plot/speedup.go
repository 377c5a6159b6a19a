package plot

import (
	"fmt"
	"math"

	"github.com/tfexp/tfexp/results"
)

// speedupMetric is the run time whose speed-up is drawn when the experiment
// names no metric.
const speedupMetric = "mean_service_s"

func (d *data) speedups(metric, axis string) ([]figure, error) {
	_ = math.NaN
	_ = results.Metric{}
	return nil, fmt.Errorf("x")
}
