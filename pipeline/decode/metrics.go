package decode

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/stages/language"
)

// metricLabels returns the names of the metrics. Metrics in seconds have two names, with and without "_s".
func metricLabels() []string {
	var names []string
	for _, name := range language.Metrics() {
		names = append(names, name)
		if short, ok := strings.CutSuffix(name, "_s"); ok {
			names = append(names, short)
		}
	}
	return names
}

// Grouped returns the metrics that are computed also for groups of jobs.
func Grouped() []string { return metricsWhere(func(m measure.Metric) bool { return m.Grouped }) }

// OverJobs returns the metrics that are means over jobs.
func OverJobs() []string { return metricsWhere(func(m measure.Metric) bool { return m.OfJob != nil }) }

func metricsWhere(is func(measure.Metric) bool) []string {
	var names []string
	for _, m := range measure.AllMetrics() {
		if is(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// groupings returns the names of the ways to group jobs.
func groupings() []string {
	return schema.Each(measure.Groupings(), func(g measure.Grouping) string { return g.Name })
}

func groupingsDoc() string {
	return strings.Join(schema.Each(measure.Groupings(), func(g measure.Grouping) string {
		return fmt.Sprintf("`%q` (%s)", g.Name, g.Doc)
	}), ", ")
}

// listed formats names as a list of code: "`a`, `b`".
func listed(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
