package profile

import "github.com/tfexp/tfexp/stages"

func init() {
	stages.Register(&stages.Stage{
		Name:   stage,
		Writes: []stages.Artifact{stages.Samples},
		Files:  []string{samplesDir},
		Pieces: &stages.Pieces{
			Title: "profiling", Noun: "profiling sample", Earlier: "sampled earlier", List: list, Find: find,
		},
		Recall: recall,
		Run:    run,
	})
}

const stage = "profile"
