package main

import (
	"embed"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
)

// app has the commands of the core as methods; App has the parts that all commands share.
type app struct{ *command.App }

func newApp(stdout, stderr io.Writer) *app { return &app{command.New(stdout, stderr)} }

const rootLong = `tfexp runs experiments on machine-learning training jobs and the policies that
schedule them. One file names the jobs, the hardware and a matrix of policies;
tfexp profiles short samples of the jobs, estimates their run times, runs every
cell of the matrix, for real or in simulation, keeps finished work, and writes
tables, comparisons with confidence intervals, pictures and a report.`

const rootExample = `  tfexp init                     write an experiment to start from
  tfexp plan experiment.hcl      what would run, why, and for how long
  tfexp run experiment.hcl       run it
  tfexp resume                   continue an interrupted run`

// command returns the root command with all subcommands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "tfexp",
		Short:         "Experiments on training jobs and their schedulers",
		Long:          rootLong + "\n\n" + command.ExitHelp,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,

		PersistentPreRunE: command.NoneEmpty,

		Version: command.ThisBuild().Version,
	}
	root.SetOut(show.Fold(a.Out))
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(command.FlagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddGroup(
		&cobra.Group{ID: command.GroupWrite, Title: "Write an experiment:"},
		&cobra.Group{ID: command.GroupRun, Title: "Run it:"},
		&cobra.Group{ID: command.GroupLook, Title: "Look at results:"},
		&cobra.Group{ID: command.GroupMachine, Title: "This machine and tfexp itself:"},
	)
	root.SetVersionTemplate("tfexp {{.Version}}\n")
	root.SetHelpCommand(&cobra.Command{Hidden: true, GroupID: command.GroupMachine}) // replaces cobra's help command
	for _, g := range []struct {
		id   string
		core map[int]*cobra.Command
	}{
		{command.GroupWrite, map[int]*cobra.Command{20: a.validateCommand()}},
		{command.GroupRun, map[int]*cobra.Command{10: a.planCommand(), 20: a.runCommand(), 30: a.resumeCommand()}},
		{command.GroupLook, map[int]*cobra.Command{60: a.reportCommand()}},
		{command.GroupMachine, map[int]*cobra.Command{30: a.versionCommand(), 40: a.helpCommand()}},
	} {
		for _, c := range a.With(g.id, g.core) {
			c.GroupID = g.id
			c.DisableFlagsInUseLine = true
			root.AddCommand(c)
		}
	}
	reflow(root, a.Out)
	return root
}

// reflow wraps help texts again for a narrow terminal.
func reflow(cmd *cobra.Command, w io.Writer) {
	cmd.Long = show.Reflow(w, cmd.Long)
	for _, c := range cmd.Commands() {
		reflow(c, w)
	}
}

// helpCommand is cobra's help command, but it suggests names for unknown commands.
func (a *app) helpCommand() *cobra.Command {
	help := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command, or explain the language of experiments",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return command.UnknownCommand(cmd.Root(), args[0])
			}
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return command.CommandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
	}
	help.AddCommand(a.With("help", nil)...)
	return help
}

func (a *app) execute(args []string) error {
	cobra.EnableCommandSorting = false
	a.Args = append([]string{"tfexp"}, args...)
	args = command.LongForms(args)
	root := a.command()
	// Shells complete words with a hidden command that cobra adds later.
	completing := len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
	if _, _, err := root.Find(args); err != nil && !completing {
		return command.UnknownCommand(root, firstWord(args))
	}
	root.SetArgs(args)
	return root.Execute()
}

func firstWord(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

//go:embed help
var helpTexts embed.FS

// help returns the long help of a command of the core.
func help(name string, values ...string) string { return command.Help(helpTexts, name, values...) }
