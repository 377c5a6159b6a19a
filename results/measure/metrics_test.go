package measure_test

import (
	"github.com/tfexp/tfexp/results/measure"
	"testing"
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
	seen := measure.Metrics{Jobs: 1, Finished: 2, Failed: 3, Makespan: 4, ThroughputPerHour: 5, Utilization: 6, MeanJCT: 7, MedianJCT: 8,
		P95JCT: 9, MeanWaiting: 10, MeanFirstRunDelay: 11, MeanService: 12, MeanSlowdown: 13, P95Slowdown: 14, JainFairness: 15,
		Preemptions: 16, Resizes: 17, MeanBoundedSlowdown: 18, GPUUtilization: 19}
	for i, m := range measure.AllMetrics() {
		if got := m.Of(&seen); got != float64(i+1) {
			t.Errorf("%s reads %v, want %d", m.Name, got, i+1)
		}
	}
}
