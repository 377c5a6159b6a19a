package measure_test

import (
	"testing"

	"github.com/tfexp/tfexp/results/measure"
)

func TestMetricNames(t *testing.T) {
	for _, name := range []string{"mean_jct_s", "mean_jct", "throughput_per_h", "throughput", "preemptions"} {
		if _, ok := measure.MetricByName(name); !ok {
			t.Errorf("there is no metric %q", name)
		}
	}
	if _, ok := measure.MetricByName("mean"); ok {
		t.Error("there is a metric \"mean\"")
	}
	var seen measure.Metrics
	for i, m := range measure.AllMetrics() {
		seen.Set(m, float64(i+1))
	}
	for i, m := range measure.AllMetrics() {
		if got := m.Of(&seen); got != float64(i+1) {
			t.Errorf("%s reads %v, want %d", m.Name, got, i+1)
		}
	}
}
