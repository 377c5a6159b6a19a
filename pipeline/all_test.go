package pipeline_test

// This external test imports all features, because some of them import package pipeline.
import _ "github.com/tfexp/tfexp/stages/all"
