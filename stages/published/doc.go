// Package published has orders from publications, one file each. Package users has orders that share a cluster among
// users. Package profiling lets orders learn run times from samples on the cluster.
package published

import (
	_ "github.com/tfexp/tfexp/stages/published/profiling" // registers its settings
	_ "github.com/tfexp/tfexp/stages/published/users"     // registers its orders
)
