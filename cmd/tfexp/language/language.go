// Package language is the command "tfexp help language", which explains single entries of the language reference.
package language

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/schema"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register("help", languageCommand)
}

func languageCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "language [NAME]",
		Short: "Explain a block, an argument or a function of experiment files",
		Long:  command.Help(helpTexts, "language"),
		Example: `  tfexp help language
  tfexp help language job
  tfexp help language job.runtime.epoch
  tfexp help language quantum`,
		RunE: func(_ *cobra.Command, args []string) error {
			return explain(show.Fold(a.Out), strings.Join(args, "."))
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, e := range entries() {
				names = append(names, e.path+"\t"+schema.FirstSentence(e.doc()))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// explain writes the entry whose path is name, or the entries whose paths end with it.
func explain(w io.Writer, name string) error {
	all := entries()
	if name == "" {
		fmt.Fprint(w, "Blocks of an experiment file:\n\n")
		listEntries(w, slices.DeleteFunc(all, func(e entry) bool { return e.block == nil || strings.Contains(e.path, ".") }))
		fmt.Fprint(w, "\n\"tfexp help language NAME\" explains one of them, an argument, or a function.\n")
		return nil
	}
	name = strings.Trim(strings.NewReplacer(" ", ".", "/", ".", "()", "").Replace(name), ".")
	var found []entry
	for _, e := range all {
		if e.path == name {
			e.write(w)
			return nil
		}
		if strings.HasSuffix(e.path, "."+name) && !slices.ContainsFunc(found, e.equals) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return command.Usagef(command.DidYouMean(name, namesOf(all, name), `see "tfexp help language" for the blocks`),
			"the language has no %q", name)
	case 1:
		found[0].write(w)
	default:
		fmt.Fprintf(w, "%q is in several places:\n\n", name)
		listEntries(w, found)
	}
	return nil
}

// namesOf returns candidates for a misspelled name: whole paths if the name has a dot, else the last words of paths.
func namesOf(all []entry, name string) (names []string) {
	within, _, isPath := cutLast(name)
	for _, e := range all {
		above, last, _ := cutLast(e.path)
		switch {
		case !isPath:
			names = command.Insert(names, last)
		case above == within:
			names = slices.Insert(names, 0, e.path) // a mistake in the last word is more likely
		default:
			names = append(names, e.path)
		}
	}
	return names
}

// cutLast splits a path before its last word. isPath is false if it has only one word.
func cutLast(path string) (above, last string, isPath bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// listEntries writes one line for each entry.
func listEntries(w io.Writer, list []entry) {
	wide := 0
	for _, e := range list {
		wide = max(wide, len(e.path))
	}
	for _, e := range list {
		fmt.Fprintf(w, "  %-*s  %s\n", wide, e.path, schema.FirstSentence(e.doc()))
	}
}
