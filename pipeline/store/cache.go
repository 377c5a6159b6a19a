// Package store keeps finished work of runs: the cache with its keys, the journal, the lock of the folder, and packed
// cells.
//
// A finished output is stored under the hash of its key, a labeled description of everything that the output depends
// on. The description is stored with the output, so that a cache miss can be explained by the lines that changed.
package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// openTimeout is how long Open waits for another process that has cache.db open.
const openTimeout = 2 * time.Second

// Buckets of cache.db.
var (
	bucketEntries = []byte("entries") // hash of a key → entry
	bucketOutputs = []byte("outputs") // hash of a key → output
	bucketLatest  = []byte("latest")  // unit → hash of its newest output
)

// Entry is the record of one finished output.
type Entry struct {
	Stage       string    `json:"stage"`
	Unit        string    `json:"unit"` // such as a cell or the samples of a job
	Description string    `json:"description"`
	Created     time.Time `json:"created"`
	Seconds     float64   `json:"seconds"`
	// Files are the files of a stage, if they are its output.
	Files []record.File `json:"files,omitempty"`
	// Sum is the CRC-32 of an output that the cache itself holds.
	Sum *uint32 `json:"sum,omitempty"`
}

// Cache stores finished work by the hash of its key. One process at a time writes it, the process that holds the lock
// of the experiment's folder.
type Cache struct {
	// Warn receives a message if the cache is found damaged during a write and is recreated; it may be nil.
	Warn func(text string)

	path   string
	writes sync.Mutex   // allows one write at a time
	use    sync.RWMutex // guards the database: renew replaces it
	db     *bbolt.DB
	file   *os.File // the open file of db
	lost   bool     // the database panicked and may hold its locks until the process ends

	mu      sync.Mutex // guards the fields below
	waiting []waiting
	bytes   int // total size of waiting
}

// Open opens cache.db in dir for writing. If the file is damaged or not a regular file, Open renames it and makes a
// new cache, with a warning: finished work is still in plain files.
func Open(dir, name string) (*Cache, string, error) {
	path := filepath.Join(dir, name)
	c, err := openWhole(path, bbolt.Options{Timeout: openTimeout, FreelistType: bbolt.FreelistMapType})
	what := "damaged"
	switch {
	case err == nil:
		return c, "", nil
	case errors.Is(err, folder.ErrNotRegular):
		what = "not a regular file"
	case !damaged(err):
		return nil, "", err
	}
	return beginAnew(path, what)
}

// beginAnew renames a cache that cannot be used and opens a new one. It returns a message about that.
func beginAnew(path, what string) (*Cache, string, error) {
	aside := path + ".broken"
	if err := folder.Rename(path, aside); err != nil {
		return nil, "", fmt.Errorf("open cache %s: it is %s, and cannot be renamed: %w", path, what, err)
	}
	warning := fmt.Sprintf("%s was %s and has been renamed to %s: finished work is taken from the plain files "+
		"where they are complete", path, what, aside)
	c, err := openWhole(path, bbolt.Options{Timeout: openTimeout, FreelistType: bbolt.FreelistMapType})
	return c, warning, err
}

// OpenReadOnly opens cache.db for reading. It returns nil if there is no cache, if it is damaged, or if a running
// tfexp has it open: readers then use the plain files.
func OpenReadOnly(dir, name string) *Cache {
	folder.Enclose(dir)
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	c, err := openWhole(path, bbolt.Options{Timeout: 50 * time.Millisecond, ReadOnly: true})
	if err != nil {
		return nil
	}
	return c
}

// openWhole opens a cache and checks its structure.
func openWhole(path string, o bbolt.Options) (c *Cache, err error) {
	if info, serr := os.Lstat(path); serr == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open cache %s: %w", path, folder.ErrNotRegular)
	}
	c = &Cache{path: path}
	o.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		f, err := folder.OpenFile(name, flag, mode)
		if err == nil {
			c.file = f.File
		}
		return c.file, err
	}
	err = guard(func() (err error) {
		if c.db, err = bbolt.Open(path, 0o644, &o); err != nil {
			return err
		}
		if !o.ReadOnly {
			if err := c.db.View(tile); err != nil {
				return err
			}
			if err := c.db.Update(prepare); err != nil {
				return err
			}
		}
		return c.db.View(walk)
	})
	if err == nil {
		return c, nil
	}
	switch {
	case errors.Is(err, errPanic):
		err = errors.Join(err, c.leave())
	case c.db != nil:
		err = errors.Join(err, c.db.Close())
	}
	return nil, fmt.Errorf("open cache %s: %w", path, err)
}

// leave closes the file of a database that has panicked, so that others can lock the file. It releases the lock
// first, because the database's memory mapping would keep it.
func (c *Cache) leave() error {
	if c.file == nil {
		return nil
	}
	if err := unlock(c.file); err != nil {
		return err
	}
	err := c.file.Close()
	if c.file = nil; errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// prepare creates the buckets.
func prepare(tx *bbolt.Tx) error {
	for _, b := range [][]byte{bucketEntries, bucketOutputs, bucketLatest} {
		if _, err := tx.CreateBucketIfNotExists(b); err != nil {
			return err
		}
	}
	return nil
}

// tile checks that the pages in use lie within the file. A write frees each page with the number of overflow pages
// that the page claims, one by one; if that number is damaged, it can be billions.
func tile(tx *bbolt.Tx) error {
	for id := 0; ; {
		p, err := tx.Page(id)
		if err != nil || p == nil {
			return err
		}
		if p.Type == "free" {
			id++
			continue
		}
		if id += 1 + p.OverflowCount; p.OverflowCount < 0 || int64(id)*int64(tx.DB().Info().PageSize) > tx.Size() {
			return fmt.Errorf("%w: page %d says that %d follow it", errDamaged, p.ID, p.OverflowCount)
		}
	}
}

// walk reads all keys and all values, and returns an error for damaged pages or a truncated file.
func walk(tx *bbolt.Tx) error {
	for _, b := range [][]byte{bucketEntries, bucketOutputs, bucketLatest} {
		bucket := tx.Bucket(b)
		if bucket == nil {
			return fmt.Errorf("%w: it has no bucket %s", errDamaged, b)
		}
		var last []byte
		sum := byte(0)
		err := bucket.ForEach(func(k, v []byte) error {
			if len(k) > bbolt.MaxKeySize || bytes.Compare(k, last) <= 0 {
				return fmt.Errorf("%w: the keys of bucket %s are too long, or not in order", errDamaged, b)
			}
			last = append(last[:0], k...)
			if len(v) > 0 {
				sum += v[len(v)-1]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	errDamaged = errors.New("the file is damaged")
	errPanic   = fmt.Errorf("%w: its pages are not what they should be", errDamaged)
)

// guard calls f and turns a panic of the database into an error. This includes panics when mapped memory has no file
// behind it.
func guard(f func() error) (err error) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%.200v)", errPanic, p)
		}
	}()
	return f()
}

// damaged reports whether an error is about the content of the file, and not about reading, writing or locking it. An
// offset outside the file counts as damage.
func damaged(err error) bool {
	var number syscall.Errno
	return !errors.Is(err, berrors.ErrTimeout) && !errors.As(err, &number)
}

// Close stores the outputs that wait and closes the cache, which may be nil.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	err := c.Flush()
	if c.lost {
		return errors.Join(err, c.leave())
	}
	return errors.Join(err, c.db.Close())
}

// View calls f with a read transaction. If the cache is nil, f gets an empty view.
func (c *Cache) View(f func(v View)) {
	if c == nil {
		f(View{})
		return
	}
	c.use.RLock()
	defer c.use.RUnlock()
	_ = c.db.View(func(tx *bbolt.Tx) error {
		f(View{tx.Bucket(bucketEntries), tx.Bucket(bucketOutputs), tx.Bucket(bucketLatest)})
		return nil
	})
}

// View reads the cache in one transaction.
type View struct {
	entries, outputs, latest *bbolt.Bucket
}

// Has reports whether an output is stored.
func (v View) Has(hash string) bool { return v.entries != nil && v.entries.Get([]byte(hash)) != nil }

// Output returns a copy of an output. An output with a wrong checksum counts as missing.
func (v View) Output(hash string) ([]byte, bool) {
	if v.outputs == nil {
		return nil, false
	}
	b := v.outputs.Get([]byte(hash))
	if b == nil {
		return nil, false
	}
	var e Entry
	if json.Unmarshal(v.entries.Get([]byte(hash)), &e) != nil || e.Sum != nil && *e.Sum != crc32.ChecksumIEEE(b) {
		return nil, false
	}
	return bytes.Clone(b), true
}

// Each calls visit for every stored output, in the order of hashes.
func (v View) Each(visit func(hash string, e Entry)) {
	if v.entries == nil {
		return
	}
	_ = v.entries.ForEach(func(hash, raw []byte) error {
		var e Entry
		if json.Unmarshal(raw, &e) == nil {
			visit(string(hash), e)
		}
		return nil
	})
}

// Last returns the entry of the newest output of a unit.
func (v View) Last(unit string) (Entry, bool) {
	var e Entry
	if v.latest == nil {
		return e, false
	}
	hash := v.latest.Get([]byte(unit))
	if hash == nil {
		return e, false
	}
	raw := v.entries.Get(hash)
	if raw == nil || json.Unmarshal(raw, &e) != nil {
		return e, false
	}
	return e, true
}

// Put stores a finished output under its key, and as the newest output of its units. It also stores the outputs given
// to Later. Call it only when the output's files are durable, or when their sizes are known to be right.
func (c *Cache) Put(k *Key, e Entry, output []byte, units ...string) error {
	if err := c.Later(k, e, output, units...); err != nil {
		return err
	}
	return c.Flush()
}

// waiting is an output that has not been stored yet.
type waiting struct {
	hash, raw, output []byte
	units             []string
}

// Limits of the outputs that wait. A transaction takes as long as making hundreds of small outputs, and lost outputs
// can be made again.
const (
	mostRecords = 200
	mostBytes   = 16 << 20
)

// Later is Put for outputs that need not be stored at once. Several wait and share a transaction.
func (c *Cache) Later(k *Key, e Entry, output []byte, units ...string) error {
	if output != nil {
		sum := crc32.ChecksumIEEE(output)
		e.Sum = &sum
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("record %s: %w", e.Unit, err)
	}
	c.mu.Lock()
	c.waiting = append(c.waiting, waiting{[]byte(k.Hash()), raw, output, append(units, e.Unit)})
	c.bytes += len(raw) + len(output)
	full := len(c.waiting) >= mostRecords || c.bytes >= mostBytes
	c.mu.Unlock()
	if full {
		return c.Flush()
	}
	return nil
}

// Flush stores the outputs that wait.
func (c *Cache) Flush() error {
	c.mu.Lock()
	records := c.waiting
	c.waiting, c.bytes = nil, 0
	c.mu.Unlock()
	if len(records) == 0 {
		return nil
	}
	err := c.update(func(tx *bbolt.Tx) error {
		entries, outputs, latest := tx.Bucket(bucketEntries), tx.Bucket(bucketOutputs), tx.Bucket(bucketLatest)
		for _, r := range records {
			if err := entries.Put(r.hash, r.raw); err != nil {
				return err
			}
			if r.output != nil {
				if err := outputs.Put(r.hash, r.output); err != nil {
					return err
				}
			}
			for _, u := range r.units {
				if err := latest.Put([]byte(u), r.hash); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record finished work in the cache: %w", err)
	}
	return nil
}

// update runs a transaction that writes. Some damage, for example in the list of free pages, is found only when a
// write uses it. The cache is then created again, and the transaction is repeated.
func (c *Cache) update(f func(*bbolt.Tx) error) error {
	c.writes.Lock()
	defer c.writes.Unlock()
	if err := folder.Try("commit", c.path); err != nil {
		return err
	}
	write := func() error { return guard(func() error { return c.db.Update(f) }) }
	err := write()
	var place *fs.PathError
	if !errors.Is(err, errPanic) && !(errors.As(err, &place) && damaged(err)) { // other errors can be of the disk
		return err
	}
	c.lost = true
	if nerr := c.renew(); nerr != nil {
		return errors.Join(err, nerr)
	}
	err = write()
	c.lost = errors.Is(err, errPanic)
	return err
}

// renew renames the cache file and opens a new one.
func (c *Cache) renew() error {
	c.use.Lock()
	defer c.use.Unlock()
	if err := c.leave(); err != nil {
		return err
	}
	anew, warning, err := beginAnew(c.path, "damaged")
	if err != nil {
		return err
	}
	c.db, c.file = anew.db, anew.file
	if c.Warn != nil {
		c.Warn(warning)
	}
	return nil
}

// Forget removes outputs and their entries.
func (c *Cache) Forget(hashes []string) error {
	err := c.update(func(tx *bbolt.Tx) error {
		for _, h := range hashes {
			if err := tx.Bucket(bucketOutputs).Delete([]byte(h)); err != nil {
				return err
			}
			if err := tx.Bucket(bucketEntries).Delete([]byte(h)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove outputs from the cache: %w", err)
	}
	return nil
}
