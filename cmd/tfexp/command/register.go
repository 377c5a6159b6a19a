package command

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/pipeline"
)

// The groups of commands in the help.
const (
	GroupWrite   = "write"
	GroupRun     = "run"
	GroupLook    = "look"
	GroupMachine = "machine"
)

// LastRank is the rank of commands after all ranked ones. They are in the order of their registration.
const LastRank = 1000

// registered are the commands that features have registered.
var registered []registration

type registration struct {
	place string
	rank  int
	make  func(*App) *cobra.Command
}

// Register adds a feature's command after the ranked commands. The place is a group, or the name of a parent command
// such as "export".
func Register(place string, make func(*App) *cobra.Command) { RegisterAt(place, LastRank, make) }

// RegisterAt adds a feature's command at a rank. root.go gives the ranks of the core's commands.
func RegisterAt(place string, rank int, make func(*App) *cobra.Command) {
	registered = append(registered, registration{place, rank, make})
}

// With returns the commands of a group or parent command, sorted by rank: the core's commands, and the registered ones.
func (a *App) With(place string, core map[int]*cobra.Command) (list []*cobra.Command) {
	all := slices.DeleteFunc(slices.Clone(registered), func(r registration) bool { return r.place != place })
	for rank, c := range core {
		all = append(all, registration{place, rank, func(*App) *cobra.Command { return c }})
	}
	slices.SortStableFunc(all, func(a, b registration) int { return cmp.Compare(a.rank, b.rank) })
	for _, r := range all {
		list = append(list, r.make(a))
	}
	return list
}

// RunExtension extends the commands that run experiments. Each field may be nil or empty.
type RunExtension struct {
	// Flags adds flags to the command.
	Flags func(*pflag.FlagSet)
	// About is a paragraph for the help of run.
	About string
	// Prepare changes the options of the run according to the flags.
	Prepare func(*pipeline.Options) error
	// Ended is called after the run with the experiment's folder, which is empty if there is none. failure is the error
	// of the run.
	Ended func(dir string, took time.Duration, failure error)
}

var runExtensions []func(*App) RunExtension

// RegisterRun extends the commands that run experiments. extend is called for each of these commands.
func RegisterRun(extend func(*App) RunExtension) { runExtensions = append(runExtensions, extend) }

// RunExtensions returns the extensions of features for a command that runs experiments.
func (a *App) RunExtensions() (list []RunExtension) {
	for _, extend := range runExtensions {
		list = append(list, extend(a))
	}
	return list
}

// Help returns the long help of a command from help/NAME.txt in texts. It replaces words in braces by the values. It
// panics if the file is missing, since the files are part of the program.
func Help(texts fs.FS, name string, values ...string) string {
	text, err := fs.ReadFile(texts, "help/"+name+".txt")
	if err != nil {
		panic(err)
	}
	words := strings.NewReplacer(append(values, "{out}", DefaultOut, "{exit}", ExitHelp)...)
	return words.Replace(strings.TrimSuffix(string(text), "\n"))
}
