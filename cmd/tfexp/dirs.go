package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/pipeline"
)

// DirArgument is the folder that a command was given, or the default one.
func DirArgument(args []string) string {
	if len(args) == 0 {
		return DefaultOut
	}
	return filepath.Clean(args[0])
}

// NoResults is the usage error for a folder without results.
func NoResults(dir string) error {
	const hint = `"tfexp run FILE" writes results; DIR is the folder given with --out, or one experiment's folder in it`
	return Usagef(hint, "no results in %s", dir)
}

// ExperimentsIn lists the experiment folders of DIR.
func ExperimentsIn(dir string) ([]string, error) {
	dirs, err := pipeline.Experiments(dir)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(dirs) == 0) {
		return nil, NoResults(dir)
	}
	return dirs, err
}

// CompleteFiles completes the paths of experiments.
func CompleteFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"hcl", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// CompleteDir completes a folder of results.
func CompleteDir(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dirs, _ := pipeline.Experiments(DefaultOut)
	return dirs, cobra.ShellCompDirectiveFilterDirs
}

// Exists reports whether there is something at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// IsDir reports whether path is a folder.
func IsDir(path string) bool {
	st, err := os.Stat(filepath.Clean(path))
	return err == nil && st.IsDir()
}
