package analysis

import (
	"fmt"

	"github.com/tfexp/tfexp/results/measure"
)

// MetricsOf returns values by the names of their metrics. It panics if there is no such metric.
func MetricsOf(values map[string]float64) (v measure.Metrics) {
	for name, value := range values {
		m, ok := measure.MetricByName(name)
		if !ok {
			panic(fmt.Sprintf("there is no metric %q", name))
		}
		v.Set(m, value)
	}
	return v
}
