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

// The groups of the list of commands.
const (
	GroupWrite   = "write"
	GroupRun     = "run"
	GroupLook    = "look"
	GroupMachine = "machine"
)

// Last is the rank of commands behind all others, in the order in which they were registered.
const LastRank = 1000

// registered are the commands of features.
var registered []registration

type registration struct {
	place string
	rank  int
	make  func(*App) *cobra.Command
}

// Register adds a command of a feature behind the others: to a group, or below the command of that name, such as "export".
func Register(place string, make func(*App) *cobra.Command) { RegisterAt(place, LastRank, make) }

// RegisterAt adds a command of a feature at a rank. The commands of the core have the ranks that root.go gives them.
func RegisterAt(place string, rank int, make func(*App) *cobra.Command) {
	registered = append(registered, registration{place, rank, make})
}

// With returns the commands of a place: of the core, by their ranks, and of features.
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

// RunExtension extends the commands that run experiments. Each field may be empty.
type RunExtension struct {
	// Flags adds flags.
	Flags func(*pflag.FlagSet)
	// About is a paragraph of the help of run.
	About string
	// Prepare changes the options of the run as the flags say.
	Prepare func(*pipeline.Options) error
	// Ended is called when the run has ended, with the experiment's folder (empty without one) and the error.
	Ended func(dir string, took time.Duration, failure error)
}

var runExtensions []func(*App) RunExtension

// RegisterRun extends the commands that run experiments; extend is called for each of them.
func RegisterRun(extend func(*App) RunExtension) { runExtensions = append(runExtensions, extend) }

// RunExtensions returns what features add to a command that runs experiments.
func (a *App) RunExtensions() (list []RunExtension) {
	for _, extend := range runExtensions {
		list = append(list, extend(a))
	}
	return list
}

// Help returns the long help of a command, NAME.txt in the folder help of the texts, with the words in braces replaced
// by values. It panics where the text is missing: it is a part of the program.
func Help(texts fs.FS, name string, values ...string) string {
	text, err := fs.ReadFile(texts, "help/"+name+".txt")
	if err != nil {
		panic(err)
	}
	words := strings.NewReplacer(append(values, "{out}", DefaultOut, "{exit}", ExitHelp)...)
	return words.Replace(strings.TrimSuffix(string(text), "\n"))
}
