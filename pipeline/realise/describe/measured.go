package describe

import (
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/results/record"
)

// MeasuredClusters are the clusters to which the laws of all jobs were fitted, those of each file once.
func MeasuredClusters(spec *experiments.Spec) []record.MeasuredCluster {
	var out []record.MeasuredCluster
	seen := map[string]bool{}
	for _, c := range spec.Cells {
		for _, s := range c.Workload.Submits {
			if rt := s.Job.Runtime; rt != nil && rt.Cluster != nil && !seen[rt.Cluster.File] {
				seen[rt.Cluster.File] = true
				for _, m := range rt.Cluster.Samples {
					out = append(out, record.MeasuredCluster{
						File: rt.Cluster.File, Model: m.Model, Device: m.Device, Servers: m.Servers, Workers: m.Workers,
						Speed: m.StepsPerSecond,
					})
				}
			}
		}
	}
	return out
}
