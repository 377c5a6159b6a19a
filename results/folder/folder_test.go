//go:build unix

package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/results/folder"
)

// TestNothingOutside: names and links that lead out of the folder are not read, and neither are special files.
func TestNothingOutside(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "results")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "cells", "a"), 0o755))
	must(os.MkdirAll(filepath.Join(top, "other"), 0o755))
	must(os.WriteFile(filepath.Join(top, "other", "secret.txt"), []byte("secret"), 0o644))
	must(os.WriteFile(filepath.Join(dir, "cells", "a", "jobs.csv"), []byte("job\n"), 0o644))
	must(os.Symlink(filepath.Join("a", "jobs.csv"), filepath.Join(dir, "cells", "inside")))
	must(os.Symlink(filepath.Join(top, "other", "secret.txt"), filepath.Join(dir, "cells", "file")))
	must(os.Symlink(filepath.Join(top, "other"), filepath.Join(dir, "plots")))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))

	for _, c := range []struct {
		name []string
		want error
	}{
		{[]string{"cells", "a", "jobs.csv"}, nil},
		{[]string{"cells/inside"}, nil},
		{[]string{"cells", "b", "jobs.csv"}, fs.ErrNotExist},
		{[]string{"cells", "../../other/secret.txt"}, folder.ErrOutside},
		{[]string{filepath.Join(top, "other", "secret.txt")}, folder.ErrOutside},
		{[]string{"cells", "file"}, folder.ErrOutside},
		{[]string{"plots", "secret.txt"}, folder.ErrOutside},
		{[]string{"pipe"}, folder.ErrNotRegular},
		{[]string{"cells"}, folder.ErrNotRegular},
	} {
		if _, err := folder.ReadFile(dir, c.name...); !errors.Is(err, c.want) {
			t.Errorf("read %q: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := folder.Stat(dir, "pipe"); !errors.Is(err, folder.ErrNotRegular) {
		t.Errorf("stat of a pipe: %v", err)
	}
	if _, err := folder.Stat(dir, "plots", "secret.txt"); !errors.Is(err, folder.ErrOutside) {
		t.Errorf("stat through a link: %v", err)
	}
	if _, err := folder.Make(dir, "plots"); !errors.Is(err, folder.ErrOutside) {
		t.Errorf("a folder through a link: %v", err)
	}
	path, err := folder.Make(dir, "sections")
	if info, serr := os.Stat(path); err != nil || serr != nil || !info.IsDir() {
		t.Errorf("a new folder: %v, %v", err, serr)
	}
}

// TestSecondNames: if a file in the results folder is also a hard link outside, writing it does not change the content
// outside.
func TestSecondNames(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "results")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	folder.Enclose(dir)
	outside, inside := filepath.Join(top, "thesis.txt"), filepath.Join(dir, "journal.jsonl")
	if err := os.WriteFile(outside, []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(outside, inside); err != nil {
		t.Skip("the file system has no hard links")
	}
	for name, open := range map[string]func() error{
		"append": func() error {
			_, err := folder.OpenFile(inside, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
			return err
		},
		"create":  func() error { _, err := folder.Create(inside); return err },
		"rewrite": func() error { return folder.WriteFile(inside, []byte("x"), 0o644) },
		"lock":    func() error { _, err := folder.TryLock(inside, os.O_RDWR|os.O_CREATE, false); return err },
	} {
		if err := open(); !errors.Is(err, folder.ErrLinked) || !folder.IsUnusable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if raw, err := folder.ReadFile(dir, "journal.jsonl"); err != nil || string(raw) != "text\n" {
		t.Errorf("reading: %q, %v", raw, err)
	}
	if err := folder.Write(inside, []byte("new\n"), 0o644); err != nil { // the name gets a new file
		t.Error(err)
	}
	if raw, err := os.ReadFile(outside); err != nil || string(raw) != "text\n" {
		t.Errorf("the other name has %q, %v", raw, err)
	}
}
