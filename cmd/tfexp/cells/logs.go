package cells

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/table"
)

// followEvery is the time between two reads of a followed log.
const followEvery = 200 * time.Millisecond

func logsCommand(a *command.App) *cobra.Command {
	var follow, raw, asJSON bool
	cmd := &cobra.Command{
		Use:   "logs [DIR] [CELL [JOB]] [-f] [--json]",
		Short: "Print what a job wrote",
		Long:  command.Help(helpTexts, "logs"),
		Example: `  tfexp logs
  tfexp logs mixed-this_machine-rr-r1
  tfexp logs mixed-this_machine-rr-r1 long-2 -f
  tfexp logs samples`,
		Args:              command.Between(0, 3, ""),
		ValidArgsFunction: completeCells,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, rest := splitDir(args)
			if len(rest) > 2 {
				return command.NoResults(args[0])
			}
			if follow && len(rest) < 2 {
				return command.Usagef("\"tfexp logs\" lists the cells, \"tfexp logs CELL\" its jobs", "-f needs CELL and JOB")
			}
			if len(rest) == 0 {
				return listCells(a, dir, asJSON)
			}
			at, err := findCell(dir, rest[0])
			if err != nil {
				return err
			}
			if len(rest) == 1 {
				return listLogs(a, at, asJSON)
			}
			if asJSON {
				return command.Usagef("a log is text: leave out --json", "--json lists cells and logs")
			}
			at.job = rest[1]
			return printLog(a, at, follow, raw)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing new lines until the run ends")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lists of cells and logs as JSON")
	cmd.Flags().BoolVar(&raw, "raw", false, "print control characters unchanged: a job could alter the terminal")
	return cmd
}

// loggedCell is a cell and its number of logs. loggedJob is the log of a job.
type (
	loggedCell struct {
		Experiment string `json:"experiment"`
		Cell       string `json:"cell"`
		Logs       int    `json:"logs"`
	}
	loggedJob struct {
		Job   string `json:"job"`
		File  string `json:"file"`
		Bytes int64  `json:"bytes"`
	}
)

func listCells(a *command.App, dir string, asJSON bool) error {
	dirs, err := command.ExperimentsIn(dir)
	if err != nil {
		return err
	}
	cells := []loggedCell{}
	t := table.New(2, "experiment", "cell", "logs")
	for _, d := range dirs {
		for _, cell := range namesWithLogs(d) {
			c := loggedCell{filepath.Base(d), cell, len(jobNames(cellPath{dir: d, cell: cell}))}
			t.Add(c.Experiment, c.Cell, fmt.Sprint(c.Logs))
			cells = append(cells, c)
		}
	}
	if asJSON {
		return a.PrintJSON(cells)
	}
	return t.Write(a.Out, "", a.OutColor)
}

func listLogs(a *command.App, at cellPath, asJSON bool) error {
	names := jobNames(at)
	if len(names) == 0 && !asJSON {
		fmt.Fprintf(a.Err, "%s has no logs (simulated jobs write none)\n", at.cell)
		return nil
	}
	logs := []loggedJob{}
	t := table.New(1, "job", "bytes")
	for _, job := range names {
		size := int64(0)
		if st, err := folder.Stat(at.dir, append(at.logParts(), job+".log")...); err == nil {
			size = st.Size()
		}
		t.Add(job, fmt.Sprint(size))
		logs = append(logs, loggedJob{job, filepath.Join(append([]string{at.dir}, append(at.logParts(), job+".log")...)...),
			size})
	}
	if asJSON {
		return a.PrintJSON(logs)
	}
	if err := t.Write(a.Out, "", a.OutColor); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Err, "one of them:  tfexp logs %s %s %s\n", at.dir, at.cell, names[0])
	return err
}

func printLog(a *command.App, at cellPath, follow, raw bool) error {
	out := a.Out
	if raw {
		out = a.Raw
	}
	f, err := folder.Open(at.dir, append(at.logParts(), at.job+".log")...)
	if errors.Is(err, fs.ErrNotExist) {
		return command.Usagef(command.DidYouMean(at.job, jobNames(at),
			"\"tfexp logs "+at.dir+" "+at.cell+"\" lists the jobs with a log"),
			"there is no log of job %q in %s", at.job, at.cell)
	}
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer f.Close()
	for {
		// Test this before copying the log: then lines that are written before the run's end are copied.
		_, running := store.Holder(at.dir)
		if _, err := io.Copy(out, f); err != nil {
			return fmt.Errorf("print log: %w", err)
		}
		if !follow || !running {
			return nil
		}
		time.Sleep(followEvery)
	}
}
