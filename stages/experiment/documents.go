package experiment

import (
	"embed"

	"github.com/tfexp/tfexp/experiments/schema"
)

// The comments of these files document the arguments that fill the fields of a Spec.
//
//go:embed spec.go job.go workload.go
var documented embed.FS

var _ = schema.Document("experiment", documented)
