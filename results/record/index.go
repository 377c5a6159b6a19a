package record

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler/workload/csvrows"
)

// ShardIndex is the index of all shards of a folder. If it is missing or incomplete, shards are read instead.
const ShardIndex = "index.csv"

// shardColumns are the columns of the index.
var shardColumns = []string{"cell", "key", "state", "shard", "at", "size"}

// WriteIndex writes the index if cells were added. It first syncs the shards to disk, so that the index names no lost
// cell.
func (s *Shards) WriteIndex() error {
	if s == nil || s.prefix != "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.changed {
		return nil
	}
	for name := range s.read {
		if err := settle(filepath.Join(s.dir, CellsDir, name)); err != nil {
			return fmt.Errorf("write the index of cells: %w", err)
		}
	}
	err := folder.WriteFrom(filepath.Join(s.dir, CellsDir, ShardIndex), 0o644, func(to io.Writer) error {
		w := csv.NewWriter(to)
		if err := w.Write(shardColumns); err != nil {
			return err
		}
		for _, cell := range slices.Sorted(maps.Keys(s.cells)) {
			for _, e := range s.cells[cell] {
				err := w.Write([]string{e.Cell, e.Key, e.State, e.Shard, strconv.FormatInt(e.At, 10), strconv.Itoa(e.Size)})
				if err != nil {
					return err
				}
			}
		}
		w.Flush()
		return w.Error()
	})
	if err != nil {
		return fmt.Errorf("write the index of cells: %w", err)
	}
	s.changed = false
	return nil
}

// settle syncs a file to disk.
func settle(path string) error {
	f, err := folder.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// readIndex reads the index. It skips entries of shards that are missing, or shorter than the entry says; these
// shards are read.
func (s *Shards) readIndex() {
	f, err := folder.Open(s.dir, CellsDir, ShardIndex)
	if err != nil {
		return
	}
	defer f.Close()
	r := csv.NewReader(csvrows.Bound(f))
	r.FieldsPerRecord, r.ReuseRecord = len(shardColumns), true
	if head, err := r.Read(); err != nil || !slices.Equal(head, shardColumns) {
		return
	}
	for {
		row, err := r.Read()
		if err != nil {
			break
		}
		at, err1 := strconv.ParseInt(row[4], 10, 64)
		size, err2 := strconv.Atoi(row[5])
		if err1 != nil || err2 != nil || at < 0 || size <= 0 || size > maxLine || filepath.Base(row[3]) != row[3] {
			continue
		}
		e := ShardEntry{Cell: row[0], Key: row[1], State: row[2], Shard: row[3], At: at, Size: size}
		s.add(e)
		s.read[e.Shard] = max(s.read[e.Shard], at+int64(size)+1)
	}
	for name, size := range s.read {
		if info, err := folder.Stat(s.dir, CellsDir, name); err != nil || info.Size() < size {
			delete(s.read, name)
		}
	}
	s.changed = false
	for cell, of := range s.cells {
		s.cells[cell] = slices.DeleteFunc(of, func(e ShardEntry) bool { _, ok := s.read[e.Shard]; return !ok })
	}
}

// maxLine is the largest size of a cell in bytes.
const maxLine = 64 << 20
