package all

// Each line links in a feature. Without it, the rest builds and runs as before, and the feature's blocks, engines and
// policies are not part of the language.
import (
	_ "github.com/tfexp/tfexp/hardware/docker"
	_ "github.com/tfexp/tfexp/hardware/recorded"
	_ "github.com/tfexp/tfexp/hardware/slurm"
	_ "github.com/tfexp/tfexp/scheduler/workload/formats/clusters"
	_ "github.com/tfexp/tfexp/stages/adaptation"
	_ "github.com/tfexp/tfexp/stages/allox"
	_ "github.com/tfexp/tfexp/stages/batch"
	_ "github.com/tfexp/tfexp/stages/batch/twin"
	_ "github.com/tfexp/tfexp/stages/builtin"
	_ "github.com/tfexp/tfexp/stages/clusterspeed"
	_ "github.com/tfexp/tfexp/stages/elastic"
	_ "github.com/tfexp/tfexp/stages/external"
	_ "github.com/tfexp/tfexp/stages/gavel"
	_ "github.com/tfexp/tfexp/stages/planned"
	_ "github.com/tfexp/tfexp/stages/published"
	_ "github.com/tfexp/tfexp/stages/reference"
	_ "github.com/tfexp/tfexp/stages/remaining"
	_ "github.com/tfexp/tfexp/stages/roles"
	_ "github.com/tfexp/tfexp/stages/servers"
	_ "github.com/tfexp/tfexp/stages/size"
	_ "github.com/tfexp/tfexp/stages/tuning"
)
