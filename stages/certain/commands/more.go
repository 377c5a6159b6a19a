// Package commands adds the flag --more to run, which adds replicates to a finished experiment.
package commands

import (
	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/stages/certain"
)

const about = `With --more N a finished experiment gets N more replicates: of undecided comparisons
and of differences of unknown size where the file has a certain block, else of all
cells. Intervals and verdicts account for the looks at the results before, and stay
valid however often replicates are added (docs/statistics.md).`

// mostReplicates is the largest number of replicates.
const mostReplicates = 100_000

func init() {
	command.RegisterRun(func(*command.App) command.RunExtension {
		var n int
		var flags *pflag.FlagSet
		return command.RunExtension{
			About: about,
			Flags: func(fs *pflag.FlagSet) {
				flags = fs
				fs.IntVar(&n, "more", 0, "add `N` replicates to a finished experiment")
				if fs.Name() == "resume" {
					_ = fs.MarkHidden("more") // the flag exists
				}
			},
			Prepare: func(o *pipeline.Options) error {
				switch {
				case !flags.Changed("more"):
					return nil
				case flags.Name() == "resume":
					return command.Usagef(`add replicates when the run has finished: tfexp run FILE --more N`,
						"resume continues the run as it was asked for; it does not add replicates")
				case n < 1 || n > mostReplicates:
					return command.Usagef("", "--more is %d: it is a number of replicates, from 1 to %d", n, mostReplicates)
				case o.Fresh:
					return command.Usagef("leave out one of them",
						"--more adds to the results, and --fresh makes all of them again")
				}
				o.Asked = append(o.Asked, certain.More{N: n, Refuse: command.Usagef})
				return nil
			},
		}
	})
}
