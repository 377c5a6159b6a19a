// Corpus records the times of real programs, by which the models of the package estimator are chosen and judged: its
// test predicts the recorded runs from their samples. It runs the programs and appends their times to runs.jsonl.gz.
//
//	go run ./estimator/corpus [-seconds 50] [-tfexp PROGRAM] [-python PROGRAM] [-only PROGRAMS] [-times N] FILE
//
// The runs of long.jsonl.gz are 18 times as long (-times 18 -only mlp,cnn,interpreter,allocations,noisy,hashes), and were
// recorded beside other work.
//
// It continues where the file ends: a round has one block of each program, number of threads and load, in an order
// drawn by the number of the round. It stops after a block once -seconds are over. Nothing else should run on the
// machine meanwhile; or, with -fill, nothing of a higher priority.
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

// The loads under which a block was recorded: no other program, one that keeps a core busy, and one that keeps one or
// two cores busy for a part of a second to some seconds and then sleeps.
const (
	Quiet  = "quiet"
	Busy   = "busy"
	Bursts = "bursts"
	// Shared is whatever else runs on the machine; it is no part of Loads.
	Shared = "shared"
)

// Loads lists the loads.
var Loads = []string{Quiet, Busy, Bursts}

// Block are runs of one program within a few seconds, in their order. The longest is the whole run, the others are
// samples.
type Block struct {
	// Round counts the passes over all programs, numbers of threads and loads; a round takes some minutes.
	Round   int    `json:"round"`
	At      int64  `json:"at"` // seconds since 1970
	Program string `json:"program"`
	Threads int    `json:"threads"`
	Load    string `json:"load"`
	Runs    []Run  `json:"runs"`
}

// Run is a run of a program; times are seconds.
type Run struct {
	// Length is the number of units, Wall from launch to exit, Startup from launch to the first unit. Units is empty for
	// a program that reports none.
	Length  int       `json:"length"`
	Wall    float64   `json:"wall_s"`
	Startup float64   `json:"startup_s,omitempty"`
	Units   []float64 `json:"units_s,omitempty"`
	// Busy is the mean number of cores that other programs used meanwhile.
	Busy float64 `json:"busy_cores"`
	// Probe, ProbeError and Exchange are as in estimator.Sample.
	Probe      float64 `json:"probe_s"`
	ProbeError float64 `json:"probe_error_s"`
	Exchange   float64 `json:"exchange_s,omitempty"`
}

// ReadFile reads the blocks of a file: one JSON object a line, compressed, in one gzip member for each time that some
// were appended.
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

// Append adds blocks to a file, which is made if it does not exist. Times keep five digits.
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

// digits rounds to five digits.
func digits(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
