package experiments

import "embed"

// Templates has the experiments to start from: starter.hcl, and a folder in templates for each with other files.
//
//go:embed starter.hcl templates
var Templates embed.FS
