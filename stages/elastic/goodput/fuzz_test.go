package goodput

import (
	"testing"
	"testing/fstest"
)

// Any content of a measured program's files is read, or is an error.
func FuzzMeasured(f *testing.F) {
	f.Add([]byte("placement,local_bsz,step_time,sync_time\n1,128,0.1,0.01\n11,128,0.2,0.05\n"),
		[]byte("num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,16,128,0.3,0.1\n"),
		[]byte("progress,iteration,grad_sqr,grad_var\n100,10,0.1,0.2\n200,20,0.1,0.3\n"))
	f.Add([]byte("placement,local_bsz,step_time,sync_time\n99999999999999999999,-1,1e308,nan\n"), []byte("num_nodes\n"), []byte("progress\n1e999\n"))
	f.Fuzz(func(t *testing.T, placements, scalability, validation []byte) {
		p, err := ReadMeasured(fstest.MapFS{PlacementsFile: {Data: placements}, ScalabilityFile: {Data: scalability},
			"validation-128.csv": {Data: validation}}, "x", MeasuredSettings{})
		if err == nil && p == nil {
			t.Error("no program, and no error")
		}
	})
}
