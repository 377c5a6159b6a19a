package main

// Each line links in a feature that is commands, or the commands of a feature. Without it, the rest works as before.
import (
	_ "github.com/tfexp/tfexp/cmd/tfexp/check"
	_ "github.com/tfexp/tfexp/cmd/tfexp/editor"
	_ "github.com/tfexp/tfexp/cmd/tfexp/estimates"
	_ "github.com/tfexp/tfexp/cmd/tfexp/folders"
	_ "github.com/tfexp/tfexp/cmd/tfexp/imports"
	_ "github.com/tfexp/tfexp/cmd/tfexp/platform"
	_ "github.com/tfexp/tfexp/cmd/tfexp/policies"
	_ "github.com/tfexp/tfexp/cmd/tfexp/statistics"
	_ "github.com/tfexp/tfexp/cmd/tfexp/watch"
	_ "github.com/tfexp/tfexp/results/table/parquet"
	_ "github.com/tfexp/tfexp/stages/batch/commands"
	_ "github.com/tfexp/tfexp/stages/builtin/commands"
)
