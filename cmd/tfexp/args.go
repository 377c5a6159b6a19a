package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// longForms rewrites -var and -var-file, as Terraform's users write them, to
// the two dashes that pflag knows. What follows "--" is left alone.
func longForms(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		if arg == "--" {
			copy(out[i:], args[i:])
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		if name == "-var" || name == "-var-file" {
			arg = "-" + arg
		}
		out[i] = arg
	}
	return out
}

// nearest returns the candidate that was probably meant by name, or "".
func nearest(name string, candidates []string) string {
	best, least := "", 1+len(name)/3
	for _, c := range candidates {
		if d := levenshtein.Distance(name, c, nil); d <= least && (best == "" || d < least) {
			best, least = c, d
		}
	}
	return best
}

// didYouMean is a hint with the nearest candidate, or the fallback.
func didYouMean(name string, candidates []string, fallback string) string {
	if c := nearest(name, candidates); c != "" {
		return fmt.Sprintf("did you mean %q?", c)
	}
	return fallback
}

// flagError turns an error of pflag into a usage error with a suggestion.
func flagError(cmd *cobra.Command, err error) error {
	fallback := fmt.Sprintf("see %q for the flags", cmd.CommandPath()+" --help")
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	text := err.Error()
	wrong := ""
	if _, rest, ok := strings.Cut(text, "unknown flag: --"); ok {
		wrong = rest
		err = fmt.Errorf("unknown flag --%s", wrong)
	} else if _, rest, ok := strings.Cut(text, "unknown shorthand flag: "); ok {
		_, given, _ := strings.Cut(rest, " in -")
		wrong, _, _ = strings.Cut(given, "=")
		err = fmt.Errorf("unknown flag -%s", wrong)
	}
	if c := nearest(wrong, names); wrong != "" && c != "" {
		fallback = fmt.Sprintf("did you mean --%s?", c)
	}
	return usagef(fallback, "%w", err)
}

// unknownCommand is the usage error for a subcommand that does not exist.
func unknownCommand(root *cobra.Command, name string) error {
	return usagef(didYouMean(name, commandNames(root), `see "tfexp --help" for the commands`), "unknown command %q", name)
}

// commandNames are the subcommands that the list of commands shows.
func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// between accepts from least to most arguments; what names them in the error.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		usage := "usage: " + cmd.UseLine()
		if len(args) < least {
			return usagef(usage, "%s is missing", what)
		}
		if most >= 0 && len(args) > most {
			return usagef(usage, "unexpected argument %q", args[most])
		}
		return nil
	}
}

// needFile accepts one experiment file. Where the folder has a single
// experiment, the hint is the whole command.
func needFile(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef(fileHint(cmd), "FILE is missing: name an experiment file")
	}
	return between(1, 1, "FILE")(cmd, args)
}

func fileHint(cmd *cobra.Command) string {
	files := experimentFiles(".")
	switch len(files) {
	case 0:
		return `there is no *.hcl file in this folder; "tfexp init" writes one to start from`
	case 1:
		return fmt.Sprintf("did you mean \"%s %s\"?", cmd.CommandPath(), files[0])
	}
	return "the experiments in this folder are " + strings.Join(files, ", ")
}

// experimentFiles lists the experiments in a folder, in name order.
func experimentFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		experiment := strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".hcl.json")
		if experiment && !e.IsDir() && !strings.HasPrefix(name, ".") {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files
}
