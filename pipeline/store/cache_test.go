package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	berrors "go.etcd.io/bbolt/errors"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

func TestCacheKeepsOutputsByKey(t *testing.T) {
	dir := t.TempDir()
	c, _, err := Open(dir, record.CacheFile)
	if err != nil {
		t.Fatal(err)
	}
	k := key("policy.quantum", "1s")
	if err := c.Put(k, Entry{Stage: "execute", Unit: "cell a", Description: k.Description(), Created: time.Now()},
		[]byte("out"), "family a"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	r := OpenReadOnly(dir, record.CacheFile)
	defer r.Close()
	r.View(func(v View) {
		if out, ok := v.Output(k.Hash()); !ok || string(out) != "out" {
			t.Errorf("output = %q, %v", out, ok)
		}
		if v.Has(key("policy.quantum", "2s").Hash()) {
			t.Error("an output under another key was found")
		}
		if e, ok := v.Last("family a"); !ok || e.Description != k.Description() {
			t.Errorf("newest of the family = %+v, %v", e, ok)
		}
	})
}

// A damaged cache is renamed, and a new one is used.
func TestCacheDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, record.CacheFile)
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 4096)), 0o644); err != nil {
		t.Fatal(err)
	}
	c, warning, err := Open(dir, record.CacheFile)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if warning == "" {
		t.Error("no warning")
	}
	if _, err := os.Stat(path + ".broken"); err != nil {
		t.Error(err)
	}
}

// If something other than a file is in the cache's place, it is renamed. If it cannot be renamed, the error names both
// paths.
func TestCacheIsNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, record.CacheFile)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	c, warning, err := Open(dir, record.CacheFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(warning, "was not a regular file and has been renamed to "+path+".broken") {
		t.Errorf("the warning is %q", warning)
	}
	if info, err := os.Stat(path + ".broken"); err != nil || !info.IsDir() {
		t.Errorf("what was set aside is %v, %v", info, err)
	}

	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755),
		os.WriteFile(filepath.Join(path+".broken", "x"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	_, _, err = Open(dir, record.CacheFile)
	if err == nil || !strings.Contains(err.Error(), "it is not a regular file, and cannot be renamed") ||
		folder.IsUnusable(err) {
		t.Errorf("where it cannot be renamed: %v", err)
	}
}

// fill creates a cache of some hundred outputs, with pages of all kinds. It returns the outputs by key.
func fill(t *testing.T, dir string) map[string]string {
	t.Helper()
	c, _, err := Open(dir, record.CacheFile)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]string{}
	for i := range 300 {
		k := key("policy.quantum", fmt.Sprint(i))
		out := strings.Repeat(fmt.Sprint(i, " "), 1+i*i%2000)
		in[k.Hash()] = out
		if err := c.Later(k, Entry{Unit: fmt.Sprint("cell ", i), Description: k.Description()}, []byte(out)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return in
}

// filled is a folder with a cache made by fill: the cache's path, bytes and outputs.
func filled(t *testing.T) (dir, path string, raw []byte, in map[string]string) {
	t.Helper()
	dir = t.TempDir()
	in, path = fill(t, dir), filepath.Join(dir, record.CacheFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir, path, raw, in
}

// TestCacheWhoseFreePagesAreInUse: a cache whose damage is noticed only by a write is set aside with a warning, and the
// new one has the write. Which pages are free differs from cache to cache.
func TestCacheWhoseFreePagesAreInUse(t *testing.T) {
	told, listed := 0, 0
	for range 5 {
		if told > 0 {
			break
		}
		l, n := freePagesInUse(t)
		listed, told = listed+l, told+n
	}
	if listed == 0 || told == 0 {
		t.Errorf("%d lists of free pages, %d caches that began anew", listed, told)
	}
}

func freePagesInUse(t *testing.T) (listed, told int) {
	t.Helper()
	dir, path, good, _ := filled(t)
	// A page begins with its number (8 bytes), its kind (2; 16 is the list of free pages), the count of its elements (2)
	// and of the pages that follow it (4); the list has 8 bytes for each. Both meta pages may name one.
	page := os.Getpagesize()
	for n := 2; n < len(good)/page; n++ {
		list := good[n*page : (n+1)*page]
		free := int(binary.LittleEndian.Uint16(list[10:]))
		if binary.LittleEndian.Uint16(list[8:]) != 16 || free == 0 {
			continue
		}
		listed++
		for used := 2; used < len(good)/page; used += 1 + used/4 {
			raw := bytes.Clone(good)
			for i := range free {
				binary.LittleEndian.PutUint64(raw[n*page+16+8*i:], uint64(used+i))
			}
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
			c, _, err := Open(dir, record.CacheFile)
			if err != nil {
				t.Fatal(err)
			}
			warned := ""
			c.Warn = func(text string) { warned = text }
			k := key("policy.quantum", "new")
			if err := c.Put(k, Entry{Unit: "new"}, []byte("new")); err != nil {
				t.Fatalf("free page %d is in use: %v", used, err)
			}
			c.View(func(v View) {
				if out, ok := v.Output(k.Hash()); !ok || string(out) != "new" {
					t.Errorf("free page %d is in use: %q, %v", used, out, ok)
				}
			})
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if warned == "" {
				continue
			}
			told++
			if !strings.Contains(warned, "was damaged and has been renamed to "+path+".broken") {
				t.Errorf("warning %q", warned)
			}
			if again, warning, err := Open(dir, record.CacheFile); err != nil || warning != "" {
				t.Errorf("opened again: %q, %v", warning, err)
			} else if err := again.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	return listed, told
}

// TestCacheOfEndlessPages: a damaged page can claim that billions of pages belong to it. Open finds such a page;
// otherwise a later write would free these pages one by one.
func TestCacheOfEndlessPages(t *testing.T) {
	dir, path, good, _ := filled(t)
	page, found := os.Getpagesize(), 0
	for n := 2; n < len(good)/page; n++ {
		number, kind := binary.LittleEndian.Uint64(good[n*page:]), binary.LittleEndian.Uint16(good[n*page+8:])
		if number != uint64(n) || kind > 2 {
			continue // no branch and no leaf of keys
		}
		raw := bytes.Clone(good)
		binary.LittleEndian.PutUint32(raw[n*page+12:], 1<<31+7)
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		c, warning, err := Open(dir, record.CacheFile)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Put(key("policy.quantum", "new"), Entry{Unit: "new"}, []byte("new")); err != nil {
			t.Errorf("page %d: %v", n, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if warning != "" { // else it is a free page
			found++
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
}

// TestCacheDamagedAnywhere overwrites pages of a cache in turn, and cuts the
// file off in many places: it is opened or set aside, and returns either the outputs
// that were put in, or none.
func TestCacheDamagedAnywhere(t *testing.T) {
	dir, path, good, in := filled(t)
	page := os.Getpagesize()
	set := 0
	try := func(what string, raw []byte) {
		t.Helper()
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		look := func(v View) {
			for hash, want := range in {
				if out, ok := v.Output(hash); ok && string(out) != want {
					t.Errorf("%s: an output is not what was put in", what)
				}
			}
		}
		r := OpenReadOnly(dir, record.CacheFile)
		r.View(look)
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		c, warning, err := Open(dir, record.CacheFile)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		c.View(look)
		if warning != "" {
			set++
		}
		if err := c.Put(key("policy.quantum", "new"), Entry{Unit: "new"}, []byte("new")); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: close: %v", what, err)
		}
	}
	bad := []byte{0, 0xff, 0x5a}
	for n := 0; n < len(good)/page; n += 1 + n/8 {
		raw := bytes.Clone(good)
		for i := n * page; i < (n+1)*page; i++ {
			raw[i] = bad[n%len(bad)]
		}
		try(fmt.Sprintf("page %d overwritten with %#x", n, bad[n%len(bad)]), raw)
	}
	for _, size := range []int{0, 1, 100, page, 2 * page, 3*page + 7, len(good) / 2, len(good) - page} {
		try(fmt.Sprintf("cut off at %d bytes", size), good[:size])
	}
	if set == 0 {
		t.Error("no damage was found")
	}
}

// System errors do not count as damage, so a full disk does not make tfexp discard a cache.
func TestDamaged(t *testing.T) {
	number := &os.PathError{Op: "write", Path: "cache.db", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{number, false}, {fmt.Errorf("open: %w", number), false}, {berrors.ErrTimeout, false},
		{errPanic, true}, {berrors.ErrChecksum, true},
		{&os.PathError{Op: "writeat", Path: "cache.db", Err: errors.New("negative offset")}, true},
	} {
		if got := damaged(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
