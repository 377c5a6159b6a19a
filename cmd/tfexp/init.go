package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/cli"
	"github.com/tfexp/tfexp/experiments"
)

// experimentName matches the names that the language accepts.
var experimentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func (a *app) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [NAME|FILE] [--force]",
		Short: "Write an experiment to start from",
		Long: `Write a commented experiment that runs as it is, in less than a minute, and needs
nothing else installed. NAME becomes the experiment's name and NAME.hcl its file;
FILE is a path that ends in .hcl. An existing file is not changed.

Exit status: 0; 2 when the file already exists or the name is not valid.`,
		Example: `  tfexp init                 experiment.hcl
  tfexp init spot_training   spot_training.hcl`,
		Args: cli.Between(0, 1, ""),
		RunE: func(_ *cobra.Command, args []string) error {
			file := "experiment.hcl"
			if len(args) == 1 {
				file = strings.TrimSuffix(args[0], ".hcl") + ".hcl"
			}
			name := strings.TrimSuffix(filepath.Base(file), ".hcl")
			if !experimentName.MatchString(name) {
				return cli.Usagef("a name has letters, digits, _ and -, and begins with a letter",
					"%q is not a valid name for an experiment", name)
			}
			flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
			if force {
				flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
			}
			f, err := os.OpenFile(file, flags, 0o644)
			switch {
			case errors.Is(err, fs.ErrExist):
				return cli.Usagef("choose another name, or replace it with --force", "%s already exists", file)
			case err != nil:
				return fmt.Errorf("write experiment: %w", err)
			}
			_, err = f.Write(experiments.Starter(name))
			if err := errors.Join(err, f.Close()); err != nil {
				return fmt.Errorf("write experiment: %w", err)
			}
			fmt.Fprintf(a.Out, "wrote %s\nread it, then:  tfexp run %s\n", file, file)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")
	return cmd
}
