// Corpus records run times of real programs, with which the models of package estimator are chosen and tested: a test
// predicts the recorded runs from their samples. It runs the programs and appends their times to runs.jsonl.gz.
//
//	go run ./estimator/corpus [-seconds 50] [-tfexp PROGRAM] [-python PROGRAM] [-only PROGRAMS] [-times N] FILE
//
// The runs in long.jsonl.gz are 18 times as long (-times 18 -only mlp,cnn,interpreter,allocations,noisy,hashes). They
// were recorded while other programs ran.
//
// Corpus continues after the last block in the file. A round has one block of each combination of program, number of
// threads and load, in random order; the round's number is the seed. It stops after the block during which -seconds
// end. Nothing else should run on the machine; with -fill, programs of lower priority may.
package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/tfexp/tfexp/results/folder"
)

// Loads under which blocks are recorded: no other program; a program that keeps one core busy; a program that
// alternately keeps one or two cores busy for up to some seconds, and sleeps.
const (
	Quiet  = "quiet"
	Busy   = "busy"
	Bursts = "bursts"
	// Shared means any other programs that run on the machine. It is not one of Loads.
	Shared = "shared"
)

// Loads are the loads that this program can create.
var Loads = []string{Quiet, Busy, Bursts}

// Block is a sequence of runs of one program within a few seconds. The longest run is the whole run; the others are
// samples.
type Block struct {
	// Round is the number of the pass over all combinations of program, threads and load; a pass takes some minutes.
	Round   int    `json:"round"`
	At      int64  `json:"at"` // Unix time in seconds
	Program string `json:"program"`
	Threads int    `json:"threads"`
	Load    string `json:"load"`
	Runs    []Run  `json:"runs"`
}

// Run is one run of a program. Times are in seconds.
type Run struct {
	// Length is the number of units. Wall is the time from launch to exit, Startup from launch to the first unit.
	// Units are the times of the units; empty if the program does not report them.
	Length  int       `json:"length"`
	Wall    float64   `json:"wall_s"`
	Startup float64   `json:"startup_s,omitempty"`
	Units   []float64 `json:"units_s,omitempty"`
	// Busy is the mean number of cores that other programs used during the run.
	Busy float64 `json:"busy_cores"`
	// Probe, ProbeError and Exchange are as in estimator.Sample.
	Probe      float64 `json:"probe_s"`
	ProbeError float64 `json:"probe_error_s"`
	Exchange   float64 `json:"exchange_s,omitempty"`
}

// ReadFile reads the blocks of a file. The file has one JSON object per line and is compressed; each call of Append
// has added a gzip member.
func ReadFile(name string) ([]Block, error) {
	f, err := folder.Open(filepath.Split(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var blocks []Block
	for d := json.NewDecoder(z); ; {
		var b Block
		if err := d.Decode(&b); errors.Is(err, io.EOF) {
			return blocks, nil
		} else if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		blocks = append(blocks, b)
	}
}

// Append adds blocks to a file, which it creates if necessary. Times are rounded to five digits.
func Append(name string, blocks []Block) (err error) {
	if len(blocks) == 0 {
		return nil
	}
	f, err := folder.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		for i := range b.Runs {
			r := &b.Runs[i]
			for _, v := range []*float64{&r.Wall, &r.Startup, &r.Busy, &r.Probe, &r.ProbeError, &r.Exchange} {
				*v = digits(*v)
			}
			for k := range r.Units {
				r.Units[k] = digits(r.Units[k])
			}
		}
		if err := json.NewEncoder(z).Encode(b); err != nil {
			return err
		}
	}
	return z.Close()
}

// digits rounds v to five significant digits.
func digits(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
