package experiments

import "embed"

// Templates has the experiments that users can start from: starter.hcl, and folders in templates with further ones
// and their files.
//
//go:embed starter.hcl templates
var Templates embed.FS
