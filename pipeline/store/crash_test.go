//go:build linux

package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/record"
)

// grow puts the n-th outputs into a cache: small ones and one that needs its own pages. The previous outputs are
// forgotten, so that pages become free and are used again.
func grow(c *Cache, n int) error {
	for i := range 5 {
		if err := c.Later(key("cell", fmt.Sprint(n, i)), Entry{Unit: fmt.Sprint(n, i)}, fmt.Append(nil, "output ", n, i)); err != nil {
			return err
		}
	}
	if err := c.Put(key("cell", fmt.Sprint(n)), Entry{Unit: "large"}, bytes.Repeat([]byte{byte(n + 1)}, 20_000)); err != nil || n == 0 {
		return err
	}
	return c.Forget([]string{key("cell", fmt.Sprint(n-1)).Hash()})
}

// held returns the content of a cache, as text.
func held(c *Cache) (text string) {
	c.View(func(v View) {
		v.Each(func(hash string, e Entry) {
			output, ok := v.Output(hash)
			text += fmt.Sprintln(hash, e.Unit, ok, string(output))
		})
	})
	return text
}

// A power cut within a commit: any of its pages reach the disk, whole or in part, in any order. The page that makes
// them valid is written after all others are on the disk, and may be torn itself. The cache then opens without a
// warning and has its content from before or after the commit.
func TestPowerCutWithinACommit(t *testing.T) {
	dir := memory(t)
	path := filepath.Join(dir, record.CacheFile)
	random := rand.New(rand.NewPCG(1, 2))
	page, tried := os.Getpagesize(), 0
	for n := range need.Cases(3, 8) {
		c, warning, err := Open(dir, record.CacheFile)
		if err != nil || warning != "" {
			t.Fatal(warning, err)
		}
		before, textBefore := read(t, path), held(c)
		for i := range 6 { // one commit
			_ = c.Later(key("cell", fmt.Sprint(n, i)), Entry{Unit: fmt.Sprint(n, i)}, bytes.Repeat([]byte{byte(n)}, 3_000*i))
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		textAfter := held(c)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		after := read(t, path)
		var data, meta []int // pages that the commit wrote
		for p := range len(after) / page {
			if at := p * page; at >= len(before) || !bytes.Equal(before[at:at+page], after[at:at+page]) {
				if p < 2 {
					meta = append(meta, p)
				} else {
					data = append(data, p)
				}
			}
		}
		if len(meta) != 1 || len(data) < 4 {
			t.Fatalf("the commit wrote pages %v and %v", meta, data)
		}
		try := func(what string, raw []byte, want ...string) {
			t.Helper()
			at := memory(t)
			if err := os.WriteFile(filepath.Join(at, record.CacheFile), raw, 0o644); err != nil {
				t.Fatal(err)
			}
			c, warning, err := Open(at, record.CacheFile)
			if err != nil || warning != "" {
				t.Fatalf("commit %d, %s: %s %v", n, what, warning, err)
			}
			defer c.Close()
			if text := held(c); text != want[0] && text != want[len(want)-1] {
				t.Errorf("commit %d, %s: the cache holds\n%.400s", n, what, text)
			}
			if err := c.Put(key("cell", "later"), Entry{Unit: "later"}, []byte("later")); err != nil {
				t.Errorf("commit %d, %s: %v", n, what, err)
			}
			tried++
		}
		// put copies the first bytes of a page of the commit into the file as it was.
		put := func(raw []byte, p, bytes int) { copy(raw[p*page:p*page+bytes], after[p*page:]) }
		grown := func() []byte { return append(bytes.Clone(before), make([]byte, len(after)-len(before))...) }
		if len(after) > len(before) {
			try("only longer", grown(), textBefore)
		}
		for k := range len(data) + 1 {
			raw, some := grown(), grown()
			for _, p := range data[:k] {
				put(raw, p, page)
			}
			for _, p := range data {
				put(some, p, 512*random.IntN(page/512+1)*random.IntN(2))
			}
			try(fmt.Sprintf("%d of %d pages", k, len(data)), raw, textBefore)
			try("some of some pages", some, textBefore)
		}
		for torn := 0; torn <= page; torn += 64 {
			raw := grown()
			for _, p := range data {
				put(raw, p, page)
			}
			put(raw, meta[0], torn)
			try(fmt.Sprintf("%d bytes of the last page", torn), raw, textBefore, textAfter)
		}
	}
	t.Logf("%d power cuts", tried)
}

// Writes within a commit fail from the n-th page of the file on, for each n: nothing is recorded, earlier values are
// still there, and the next commit is whole.
func TestWriteWithinACommitFails(t *testing.T) {
	if os.Getenv("TFEXP_TEST_LIMITED") == "" { // a separate process: go test writes files in this one
		child := exec.Command(os.Args[0], "-test.run=^TestWriteWithinACommitFails$", "-test.v")
		child.Env = append(os.Environ(), "TFEXP_TEST_LIMITED=1")
		output, err := child.CombinedOutput()
		if t.Logf("%s", output); err != nil {
			t.Error(err)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	limit := func(size uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(was.Cur)
	page, failures := uint64(os.Getpagesize()), 0
	for pages := uint64(2); ; pages++ {
		dir := memory(t)
		c, _, err := Open(dir, record.CacheFile)
		if err != nil {
			t.Fatal(err)
		}
		large := key("cell", "large") // its pages make the file long enough for the steps below
		if err := errors.Join(c.Put(large, Entry{Unit: "x"}, make([]byte, 100_000)), grow(c, 0)); err != nil {
			t.Fatal(err)
		}
		before := held(c)
		limit(pages * page)
		err = grow(c, 1)
		limit(was.Cur)
		if err == nil {
			c.Close()
			break
		}
		failures++
		if !strings.Contains(err.Error(), "write") || !strings.Contains(err.Error(), syscall.EFBIG.Error()) {
			t.Errorf("%d pages: %v", pages, err)
		}
		if text := held(c); text != before {
			t.Errorf("%d pages: the cache holds\n%.400s", pages, text)
		}
		if err := grow(c, 1); err != nil {
			t.Errorf("%d pages: the next commit: %v", pages, err)
		}
		after := held(c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		c, warning, err := Open(dir, record.CacheFile)
		if err != nil || warning != "" || held(c) != after {
			t.Errorf("%d pages: opened again: %s %v", pages, warning, err)
		}
		c.Close()
	}
	if failures < 5 {
		t.Errorf("%d writes failed", failures)
	}
	t.Logf("%d writes failed", failures)
}

// memory returns a folder in memory, where syncing takes no time.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "cache-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
