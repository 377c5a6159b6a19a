package command

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
)

// LongForms rewrites -var and -var-file, which users of Terraform write, to --var and --var-file: pflag accepts only
// these. Arguments after "--" are not changed.
func LongForms(args []string) []string {
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

// DidYouMean returns a hint that names the candidate nearest to name; fallback if none is near.
func DidYouMean(name string, candidates []string, fallback string) string {
	if c := schema.Nearest(name, candidates); c != "" {
		return fmt.Sprintf("did you mean %q?", c)
	}
	return fallback
}

// NoneEmpty returns an error for an argument or a flag that is "", as where a shell has no value for a variable.
func NoneEmpty(cmd *cobra.Command, args []string) (err error) {
	if slices.Contains(args, "") && !strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) {
		return Usagef("leave it out, or give it a value", "an argument is empty")
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = Usagef("leave it out, or give it a value", "--%s is empty", f.Name)
		}
	})
	return err
}

// wanted describes the values of flags, by the name of their type in pflag.
var wanted = map[string]string{"bool": "true or false", "int": "a whole number", "int64": "a whole number",
	"uint64": "a whole number from 0", "float64": "a number", "duration": "a duration, such as 90s or 1h30m"}

// FlagError turns an error of pflag into a usage error with a suggestion.
func FlagError(cmd *cobra.Command, err error) error {
	fallback := fmt.Sprintf("see %q for the flags", cmd.CommandPath()+" --help")
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	text := err.Error()
	var value *pflag.InvalidValueError
	if errors.As(err, &value) && wanted[value.GetFlag().Value.Type()] != "" {
		why := "not " + wanted[value.GetFlag().Value.Type()]
		if errors.Is(err, strconv.ErrRange) {
			why = "out of range"
		}
		err = fmt.Errorf("--%s is %q, which is %s", value.GetFlag().Name, value.GetValue(), why)
	}
	wrong := ""
	if _, rest, ok := strings.Cut(text, "unknown flag: --"); ok {
		wrong = rest
		err = fmt.Errorf("unknown flag --%s", wrong)
	} else if _, rest, ok := strings.Cut(text, "unknown shorthand flag: "); ok {
		_, given, _ := strings.Cut(rest, " in -")
		wrong, _, _ = strings.Cut(given, "=")
		err = fmt.Errorf("unknown flag -%s", wrong)
	}
	if near := schema.Nearest(wrong, names); slices.Contains(names, wrong) || near != "" {
		fallback = fmt.Sprintf("did you mean --%s?", cmp.Or(near, wrong))
	}
	return Usagef(fallback, "%w", err)
}

// UnknownCommand is the usage error for a subcommand that does not exist.
func UnknownCommand(root *cobra.Command, name string) error {
	return Usagef(DidYouMean(name, CommandNames(root), `see "tfexp --help" for the commands`), "unknown command %q", name)
}

// CommandNames lists the subcommands that the help shows.
func CommandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// Between accepts from least to most arguments. The error calls them what.
func Between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		usage := "usage: " + cmd.UseLine()
		if len(args) < least {
			return Usagef(usage, "%s is missing", what)
		}
		if most >= 0 && len(args) > most {
			return Usagef(usage, "unexpected argument %q", args[most])
		}
		return nil
	}
}

// NeedFile accepts one experiment file. If the file is missing and the folder has a single experiment, the hint is the
// complete command.
func NeedFile(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return Usagef(fileHint(cmd), "FILE is missing: name an experiment file")
	}
	return Between(1, 1, "FILE")(cmd, args)
}

func fileHint(cmd *cobra.Command) string {
	files := ExperimentFiles(".")
	switch len(files) {
	case 0:
		return `there is no *.hcl file in this folder; "tfexp init" writes one to start from`
	case 1:
		return fmt.Sprintf("did you mean \"%s %s\"?", cmd.CommandPath(), files[0])
	}
	return "the experiments in this folder are " + strings.Join(files, ", ")
}

// ExperimentFiles lists the experiment files in a folder, sorted by name.
func ExperimentFiles(dir string) []string {
	entries, err := folder.ReadDir(dir)
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

// Insert appends a name if the list lacks it.
func Insert(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
