// Package tablefiles reads values of jobs from CSV files: run times on several numbers of threads and losses (runtime
// blocks), and arrivals (submit blocks).
package tablefiles

import (
	"cmp"
	"embed"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// timesArgs are the arguments of a runtime block with run times in a file.
type timesArgs struct {
	// A CSV file with such a table, relative to the folder of the experiment file. Its first line names the
	// columns.
	//
	//	file = "times.csv"
	File string `arg:"file"`
	// The column of `file` with the number of threads.
	//
	//	threads_column = "cores"
	ThreadsColumn string `arg:"threads_column" default:"threads"`
	// The column of `file` with the seconds.
	//
	//	time_column = "time"
	TimeColumn string `arg:"time_column" default:"seconds"`
	// The rows of `file` to use: by column, the text that they must have.
	//
	// Default: all.
	//
	//	where = { model = "resnet" }
	Where []schema.Setting `arg:"where"`
}

// lossArgs are its arguments with losses in a file.
type lossArgs struct {
	// A CSV file with the training loss after each epoch (or step), which the job reports in simulation; relative to
	// the folder of the experiment file.
	//
	//	losses = "losses.csv"
	Losses string `arg:"losses"`
	// The column of `losses` with the loss.
	//
	//	loss_column = "training_loss"
	LossColumn string `arg:"loss_column" default:"loss" needs:"losses"`
}

//go:embed runtime.go submit.go
var source embed.FS

const feature = "tablefiles"

func init() {
	schema.Document(feature, source)
	language.RegisterRunTimeTable(language.RunTimeTable{
		Name: "file", Args: schema.Args[timesArgs], Decode: times,
		Doc: "a CSV `file` with a column of threads and a column of seconds. " +
			"Rows with the same number of threads are averaged",
	})
	language.Extend(feature, language.Runtime, language.Extension[experiment.Runtime]{
		Args: schema.Args[lossArgs], Before: "final_accuracy", Decode: losses,
	})
	language.Extend(feature, language.Submit, language.Extension[experiment.Submit]{
		Args: schema.Args[submitArgs], Before: "priority", DecodeFirst: arrivals,
	})
	language.Extend(feature, language.File, language.Extension[experiment.Spec]{CheckCells: warnings})
}

// times reads a table of run times. For each number of threads it returns the mean over the rows.
func times(d *language.Decoder, b language.Block) []experiment.ThreadTime {
	var v timesArgs
	b.Fill(&v)
	from, at := d.Find(v.File), b.Node.Attr("file").Expr.Range()
	rows, ok := datafile.Columns(d, b.Args, at, from, []string{v.ThreadsColumn, v.TimeColumn}, v.Where)
	if !ok {
		return nil
	}
	if len(rows) == 0 {
		b.Fail(at, "Table without rows", "No row of %s is selected.", from.Shown)
		return nil
	}
	slices.SortStableFunc(rows, func(x, y []float64) int { return cmp.Compare(x[0], y[0]) })
	var times []experiment.ThreadTime
	for len(rows) > 0 {
		threads, sum, n := rows[0][0], 0.0, 0
		for n < len(rows) && rows[n][0] == threads {
			sum += rows[n][1]
			n++
		}
		if threads != math.Trunc(threads) || threads > schema.MaxThreads || sum/float64(n) > datafile.MaxSeconds {
			b.Fail(at, "Value out of range",
				"%s has %v seconds on %v threads: threads are a whole number up to %d, and times at most %v s.",
				from.Shown, sum/float64(n), threads, schema.MaxThreads, datafile.MaxSeconds)
			return nil
		}
		times = append(times, experiment.ThreadTime{
			Threads: int(threads), Time: max(time.Duration(math.Round(sum/float64(n)*1e9)), 1),
		})
		rows = rows[n:]
	}
	return times
}

// losses reads the losses that a job reports in simulation.
func losses(d *language.Decoder, b language.Block, into *experiment.Runtime) {
	var v lossArgs
	if b.Fill(&v); !b.IsSet("losses") || !b.OK {
		return
	}
	from, at := d.Find(v.Losses), b.Node.Attr("losses").Expr.Range()
	rows, ok := datafile.Columns(d, b.Args, at, from, []string{v.LossColumn}, nil)
	if ok && len(rows) == 0 {
		b.Fail(at, "Table without rows", "%s has no losses.", from.Shown)
	}
	into.Losses = schema.Each(rows, func(row []float64) float64 { return row[0] })
}
