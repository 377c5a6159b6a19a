// A shard is a file with cells that record only their metrics, one cell per line. Cells in shards have no folders,
// because file systems of clusters limit the number of files, and each file costs several calls to their server.
//
// Each process writes its own shard. Two processes can do the same work, if one seemed dead, without disturbing each
// other. A cell is found by its name and key: the same cell can be in several shards, and under several keys.

package record

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
)

// CellsDir is the folder of the shards in an experiment's folder, next to the folders of other cells.
const CellsDir = "cells"

// ShardEnding is the suffix of the names of shards.
const ShardEnding = ".jsonl"

// ShardLine is a line of a shard, a cell.
type ShardLine struct {
	Cell string `json:"cell"`
	// DependsOn is the description of the cell's key.
	DependsOn string `json:"depends_on"`
	// Result is the content of a cell.json.
	Result Cell `json:"result"`
}

// ShardEntry says where a cell is: a line of a shard.
type ShardEntry struct {
	Cell, Key, State string
	Shard            string // the name of the file
	At               int64  // offset of the line in bytes
	Size             int    // of the line in bytes, without its line break
}

// ShardWriter appends cells to its own shard. Its methods are safe for concurrent use.
type ShardWriter struct {
	name string
	mu   sync.Mutex // guards the fields below
	file *folder.File
	at   int64
}

// CreateShard creates a shard in an experiment's folder. Its name is unique and begins with prefix.
func CreateShard(dir, prefix string) (*ShardWriter, error) {
	dir = filepath.Join(dir, CellsDir)
	if err := folder.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for cells: %w", err)
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%d%s", prefix, n, ShardEnding)
		f, err := folder.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("make a file for cells: %w", err)
		}
		return &ShardWriter{name: name, file: f}, nil
	}
}

// Add appends a cell in one write, and returns its place.
func (w *ShardWriter) Add(l ShardLine) (ShardEntry, error) {
	raw, err := json.Marshal(l)
	if err != nil {
		return ShardEntry{}, fmt.Errorf("write cell %s: %w", l.Cell, err)
	}
	e := ShardEntry{Cell: l.Cell, Key: l.Result.Key, State: l.Result.State, Shard: w.name, Size: len(raw)}
	if !e.whole() {
		return ShardEntry{}, fmt.Errorf("write cell %s: %w", l.Cell, errNoCell)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.file.Write(append(raw, '\n'))
	e.At = w.at
	w.at += int64(n)
	if err != nil {
		return ShardEntry{}, fmt.Errorf("write cell %s: %w", l.Cell, err)
	}
	return e, nil
}

// Close syncs the cells to disk and closes the shard, which may be nil.
func (w *ShardWriter) Close() error {
	if w == nil {
		return nil
	}
	if err := errors.Join(w.file.Sync(), w.file.Close()); err != nil {
		return fmt.Errorf("write cells: %w", err)
	}
	return nil
}

// entryOf reads the name, key and state of the cell in a line.
func entryOf(raw []byte) (ShardEntry, error) {
	var l struct {
		Cell   string `json:"cell"`
		Result struct {
			Key   string `json:"key"`
			State string `json:"state"`
		} `json:"result"`
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return ShardEntry{}, err
	}
	e := ShardEntry{Cell: l.Cell, Key: l.Result.Key, State: l.Result.State, Size: len(raw)}
	if !e.whole() {
		return ShardEntry{}, errNoCell
	}
	return e, nil
}

var errNoCell = errors.New("it is not a cell")

// whole reports whether the entry has a name, a key and a state.
func (e *ShardEntry) whole() bool { return e.Cell != "" && e.Key != "" && e.State != "" }

// Shards are the cells in the shards of a folder. Its methods are safe for concurrent use; a nil Shards is empty.
type Shards struct {
	dir, prefix string

	mu      sync.Mutex // guards the fields below
	cells   map[string][]ShardEntry
	read    map[string]int64 // number of bytes read of each shard
	changed bool             // cells were added since the index was read
}

// OpenShards finds the cells in those shards of an experiment's folder whose names begin with prefix. It uses the
// index, and reads shards that the index lacks. If there is no folder, the result is empty.
func OpenShards(dir, prefix string) (*Shards, error) {
	s := &Shards{dir: dir, prefix: prefix, cells: map[string][]ShardEntry{}, read: map[string]int64{}}
	if prefix == "" {
		s.readIndex()
	}
	return s, s.Update()
}

// Update finds cells that were added to the shards.
func (s *Shards) Update() error {
	entries, err := folder.ReadDir(filepath.Join(s.dir, CellsDir))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for cells: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, s.prefix) && strings.HasSuffix(name, ShardEnding) &&
			e.Type().IsRegular() {
			if err := s.more(name); err != nil {
				return fmt.Errorf("read cells: %w", err)
			}
		}
	}
	return nil
}

// more reads the new lines of a shard. It skips an incomplete last line, which is being written or is from a killed
// writer. mu must be held.
func (s *Shards) more(name string) error {
	f, err := folder.Open(s.dir, CellsDir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	at := s.read[name]
	if info, err := f.Stat(); err != nil || info.Size() == at {
		return err
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	lines.Split(func(data []byte, _ bool) (int, []byte, error) {
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			return end + 1, data[:end], nil
		}
		return 0, nil, nil
	})
	for lines.Scan() {
		raw := lines.Bytes()
		if e, err := entryOf(raw); err == nil {
			e.Shard, e.At = name, at
			s.add(e)
		}
		at += int64(len(raw)) + 1
		s.read[name] = at
	}
	return lines.Err()
}

// Added adds the entry of a cell that a ShardWriter has written.
func (s *Shards) Added(e ShardEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read[e.Shard] == e.At {
		s.read[e.Shard] = e.At + int64(e.Size) + 1
	}
	s.add(e)
}

// mostEntries is the largest number of entries of a cell, in case a shard comes from somebody else.
const mostEntries = 64

// add adds an entry unless it is known. If a cell has too many, add drops one that did not finish. mu must be held.
func (s *Shards) add(e ShardEntry) {
	of := s.cells[e.Cell]
	if slices.ContainsFunc(of, func(o ShardEntry) bool { return o.Shard == e.Shard && o.At == e.At }) {
		return
	}
	if len(of) >= mostEntries {
		old := max(slices.IndexFunc(of, func(o ShardEntry) bool { return o.State != finishedState }), 0)
		of = slices.Delete(of, old, old+1)
	}
	s.cells[e.Cell], s.changed = append(of, e), true
}

// finishedState is the state of a cell without failures.
const finishedState = "finished"

// Find returns the place of a cell that ran under a key. It prefers an entry that finished, and otherwise returns the
// last one.
func (s *Shards) Find(cell, key string) (found ShardEntry, ok bool) {
	if s == nil {
		return found, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.cells[cell] {
		if e.Key == key && !(ok && found.State == finishedState) {
			found, ok = e, true
		}
	}
	return found, ok
}

// Last returns the place of a cell's last run under any key.
func (s *Shards) Last(cell string) (ShardEntry, bool) {
	if s == nil {
		return ShardEntry{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.cells[cell]
	if len(of) == 0 {
		return ShardEntry{}, false
	}
	return of[len(of)-1], true
}

// Line reads the cell at a place.
func (s *Shards) Line(e ShardEntry) (l ShardLine, err error) {
	err = s.Each([]ShardEntry{e}, func(_ int, got ShardLine) { l = got })
	if err == nil && l.Cell == "" {
		err = fmt.Errorf("read cell %s: %w", e.Cell, fs.ErrNotExist)
	}
	return l, err
}

// Each reads cells in the order of the shards, and calls visit with each cell and its index in entries. It drops
// entries that do not match their line.
func (s *Shards) Each(entries []ShardEntry, visit func(int, ShardLine)) error {
	return s.each(entries, func(i int, raw []byte) bool {
		l := ShardLine{Result: Cell{Load: measure.OfferedLoad{Offered: math.NaN()}}} // files of earlier versions lack it
		if json.Unmarshal(raw, &l) != nil || l.Cell != entries[i].Cell {
			return false
		}
		visit(i, l)
		return true
	})
}

// All looks up n cells by name and key, and calls visit with the index of each cell that exists.
func (s *Shards) All(n int, key func(i int) (cell, key string), visit func(i int, l ShardLine)) error {
	var entries []ShardEntry
	var numbers []int
	for i := range n {
		if at, ok := s.Find(key(i)); ok {
			entries, numbers = append(entries, at), append(numbers, i)
		}
	}
	return s.Each(entries, func(at int, l ShardLine) { visit(numbers[at], l) })
}

// Verify drops entries that do not match their line in the shard.
func (s *Shards) Verify(entries []ShardEntry) error {
	return s.each(entries, func(i int, raw []byte) bool {
		return bytes.HasPrefix(raw, []byte(`{"cell":`)) && bytes.HasSuffix(raw, []byte("}}")) &&
			bytes.Contains(raw, []byte(entries[i].Key))
	})
}

// each reads the lines of entries, and drops the entries for which good returns false.
func (s *Shards) each(entries []ShardEntry, good func(i int, raw []byte) bool) error {
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(entries[a].Shard, entries[b].Shard), cmp.Compare(entries[a].At, entries[b].At))
	})
	var f *folder.File
	defer func() { f.Close() }()
	var ahead []byte // bytes already read from offset at, because most lines are adjacent
	var at int64
	for n, i := range order {
		e := entries[i]
		if n == 0 || e.Shard != entries[order[n-1]].Shard {
			f.Close()
			var err error
			if f, err = folder.Open(s.dir, CellsDir, e.Shard); err != nil {
				return fmt.Errorf("read cell %s: %w", e.Cell, err)
			}
			ahead, at = ahead[:0], 0
		}
		if e.At+int64(e.Size) > at+int64(len(ahead)) {
			ahead = slices.Grow(ahead[:0], max(e.Size, min(len(order)*e.Size, readTogether)))
			read, err := f.ReadAt(ahead[:cap(ahead)], e.At)
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("read cell %s: %w", e.Cell, err)
			}
			ahead, at = ahead[:read], e.At
		}
		line := ahead[min(e.At-at, int64(len(ahead))):]
		if !good(i, line[:min(e.Size, len(line))]) {
			s.forget(e)
		}
	}
	return nil
}

// readTogether is the number of bytes read at a time if many lines are wanted.
const readTogether = 1 << 20

// forget drops an entry.
func (s *Shards) forget(e ShardEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cells[e.Cell] = slices.DeleteFunc(s.cells[e.Cell], func(o ShardEntry) bool { return o == e })
	s.changed = true
}
