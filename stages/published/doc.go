// Package published has orders of the literature, one file each. Folder users has those that share a cluster among its users,
// and profiling lets orders learn run times from samples that run on the cluster.
package published

import (
	_ "github.com/tfexp/tfexp/stages/published/profiling" // registers its settings
	_ "github.com/tfexp/tfexp/stages/published/users"     // registers its orders
)
