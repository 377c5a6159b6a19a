package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/pipeline"
)

// dirArgument is the folder that a command was given, or the default one.
func dirArgument(args []string) string {
	if len(args) == 0 {
		return defaultOut
	}
	return filepath.Clean(args[0])
}

// noResults is the usage error for a folder without results.
func noResults(dir string) error {
	const hint = `"tfexp run FILE" writes results; DIR is the folder given with --out, or one experiment's folder in it`
	return usagef(hint, "no results in %s", dir)
}

// experimentsIn lists the experiment folders of DIR.
func experimentsIn(dir string) ([]string, error) {
	dirs, err := pipeline.Experiments(dir)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(dirs) == 0) {
		return nil, noResults(dir)
	}
	return dirs, err
}

// completeFiles completes the paths of experiments.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"hcl", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeDir completes a folder of results.
func completeDir(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dirs, _ := pipeline.Experiments(defaultOut)
	return dirs, cobra.ShellCompDirectiveFilterDirs
}

// exists reports whether there is something at path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isDir reports whether path is a folder.
func isDir(path string) bool {
	st, err := os.Stat(filepath.Clean(path))
	return err == nil && st.IsDir()
}
