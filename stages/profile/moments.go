package profile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
)

// mostMoments bounds the moments of earlier runs that are read, mostMomentFiles the files.
const (
	mostMoments     = 1000
	mostMomentFiles = 200
)

// recall makes known how fast this machine was when other experiments in the same folder of results were sampled.
// Nothing depends on it but how wide intervals are: what cannot be read is left out.
func recall(p stages.Planning) {
	if len(p.SampledUnits()) == 0 {
		return
	}
	own, err := filepath.Abs(p.Dir)
	if err != nil {
		return
	}
	beside, err := os.ReadDir(filepath.Dir(own))
	if err != nil {
		return
	}
	var moments []estimator.Moment
	files := 0
	for _, other := range beside {
		if !other.IsDir() || other.Name() == filepath.Base(own) {
			continue
		}
		dir := filepath.Join(filepath.Dir(own), other.Name())
		entries, _ := os.ReadDir(filepath.Join(dir, samplesDir))
		for _, f := range entries {
			if !strings.HasSuffix(f.Name(), ".json") || files == mostMomentFiles || len(moments) >= mostMoments {
				continue
			}
			files++
			moments = append(moments, momentsOf(dir, f.Name(), p.HostPrint())...)
		}
	}
	p.SetMoments(moments)
}

// momentsOf are the speeds of a machine that the samples of a file have seen.
func momentsOf(dir, file, host string) []estimator.Moment {
	raw, err := folder.ReadFile(dir, samplesDir, file)
	var s saved
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return nil
	}
	var moments []estimator.Moment
	for _, sample := range s.Samples {
		if sample.Host == host && sample.Probe > 0 {
			moments = append(moments, estimator.Moment{Cores: sample.ProbeCores, Seconds: sample.Probe,
				Error: sample.ProbeError})
		}
	}
	return moments
}
