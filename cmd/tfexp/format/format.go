// Package format is the command "tfexp fmt".
package format

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/pipeline/decode"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.RegisterAt(command.GroupWrite, 30, fmtCommand)
}

func fmtCommand(a *command.App) *cobra.Command {
	var f formatter
	cmd := &cobra.Command{
		Use:   "fmt [FILE...|-] [--check] [--diff] [--json]",
		Short: "Rewrite experiments in the canonical style",
		Long:  command.Help(helpTexts, "fmt"),
		Example: `  tfexp fmt
  tfexp fmt --check experiments/*.hcl
  tfexp fmt - < draft.hcl`,
		ValidArgsFunction: command.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.App, f.in = a, cmd.InOrStdin()
			if len(args) == 0 {
				if args = command.ExperimentFiles("."); len(args) == 0 {
					return command.Usagef("", "there is no *.hcl file in this folder")
				}
			}
			if f.asJSON && slices.Contains(args, "-") {
				return command.Usagef("name its file, or leave out --json", "formatting standard input prints text, not JSON")
			}
			wrong := false
			f.files = []formatted{}
			for _, file := range args {
				ok, err := f.format(file)
				if err != nil {
					return err
				}
				wrong = wrong || !ok
			}
			if f.asJSON {
				if err := a.PrintJSON(f.files); err != nil {
					return err
				}
			}
			if wrong {
				return command.Silently(command.ExitInvalid)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "change nothing; exit with 3 if a file would change")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "print the changes")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the outcome for each file as JSON")
	return cmd
}

type formatter struct {
	*command.App
	in                  io.Reader
	check, diff, asJSON bool
	files               []formatted // results for --json
}

// formatted is the result of formatting a file. With --check no file is changed.
type formatted struct {
	File    string `json:"file"`
	Valid   bool   `json:"valid"` // whether its syntax is right
	Changed bool   `json:"changed"`
	Diff    string `json:"diff,omitempty"` // with --diff
}

// format formats a file. ok reports whether its syntax is right and, with --check, whether it was already formatted.
func (f *formatter) format(file string) (ok bool, err error) {
	name, stdin := file, file == "-"
	var src []byte
	if stdin {
		name = "standard input"
		src, err = eval.ReadAll(name, f.in)
	} else {
		src, err = eval.ReadSource(file)
	}
	if err != nil {
		if !stdin && !command.Exists(file) {
			return false, command.Usagef(command.DidYouMean(file, command.ExperimentFiles(filepath.Dir(file)), "name an experiment file, or - for standard input"),
				"there is no file %q", file)
		}
		if errors.As(err, new(*fs.PathError)) {
			return false, fmt.Errorf("read experiment: %w", err)
		}
		return false, command.Usagef("", "%v", err)
	}
	want, diags := decode.Format(name, src)
	if diags.HasErrors() {
		f.Diagnose(diags)
		f.files = append(f.files, formatted{File: name})
		return false, nil
	}
	changes := !bytes.Equal(src, want)
	said := formatted{File: name, Valid: true, Changed: changes}
	if f.diff {
		said.Diff = string(diff.Diff(name, src, name+" formatted", want))
	}
	f.files = append(f.files, said)
	switch {
	case stdin && !f.check && !f.diff:
		_, err = f.Raw.Write(want)
		return true, err
	case !changes:
		return true, nil
	case f.asJSON:
	case f.diff:
		if _, err := io.WriteString(f.Out, said.Diff); err != nil {
			return false, err
		}
	default:
		fmt.Fprintln(f.Out, name)
	}
	if f.check || stdin {
		return !f.check, nil
	}
	if err := filearg.Write(file, func(w io.Writer) error { _, err := w.Write(want); return err }); err != nil {
		return false, fmt.Errorf("format %s: %w", file, err)
	}
	return true, nil
}
