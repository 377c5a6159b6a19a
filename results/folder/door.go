package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// This file is tfexp's only door to the file system: make lint refuses the functions of package os that open, make,
// change or remove files anywhere else.

// Fault, where a test sets it, is asked before each operation on files (open, read, write, sync, truncate, mkdir,
// rename, link, chtimes, remove, lock, commit) and each start of a program (fork, exec). The operation fails with the
// error that it returns.
var Fault func(op, path string) error

// Arrow is between the two paths of a rename or link that Fault is asked about.
const Arrow = " -> "

// ErrTorn is returned by Fault for a write whose first half reaches the file.
var ErrTorn = errors.New("the write was torn")

// Try asks Fault.
func Try(op, path string) error {
	if f := Fault; f != nil {
		return f(op, path)
	}
	return nil
}

// enclosed are the folders of results whose links lead nowhere else.
var enclosed sync.Map // absolute path → true

// Enclose marks a folder as one of results, which may come from somebody else. From then on, every read, write or
// removal at a path below it stays below it, and a link out of it is an error, ErrOutside. The folder itself may
// be a link, and need not exist yet.
func Enclose(dir string) {
	if abs, err := filepath.Abs(dir); err == nil {
		enclosed.Store(abs, true)
	}
}

// disk are the methods of an *os.Root that the door uses.
type disk interface {
	OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error)
	Mkdir(name string, mode fs.FileMode) error
	MkdirAll(name string, mode fs.FileMode) error
	Rename(from, to string) error
	Link(from, to string) error
	Chtimes(name string, accessed, changed time.Time) error
	Remove(name string) error
	RemoveAll(name string) error
	Close() error
}

// anywhere is the disk for paths that are not below an enclosed folder, such as those that users name.
type anywhere struct{}

func (anywhere) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
func (anywhere) Mkdir(name string, mode fs.FileMode) error    { return os.Mkdir(name, mode) }
func (anywhere) MkdirAll(name string, mode fs.FileMode) error { return os.MkdirAll(name, mode) }
func (anywhere) Rename(from, to string) error                 { return os.Rename(from, to) }
func (anywhere) Link(from, to string) error                   { return os.Link(from, to) }
func (anywhere) Chtimes(name string, a, c time.Time) error    { return os.Chtimes(name, a, c) }
func (anywhere) Remove(name string) error                     { return os.Remove(name) }
func (anywhere) RemoveAll(name string) error                  { return os.RemoveAll(name) }
func (anywhere) Close() error                                 { return nil }

// enclosure returns the outermost enclosed folder that a path is below, and the rest of the path.
func enclosure(path string) (dir, rest string) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", ""
	}
	for at := filepath.Dir(abs); ; at = filepath.Dir(at) {
		if _, ok := enclosed.Load(at); ok {
			dir, rest = at, strings.TrimPrefix(abs[len(at):], string(filepath.Separator))
		}
		if at == filepath.Dir(at) {
			return dir, rest
		}
	}
}

// root is an open folder.
type root struct {
	*os.Root
	dir   string
	is    fs.FileInfo
	users int // operations under way, and one while it is kept
}

// roots are the folders of the last operations: most others are in the same ones. Opening a folder for each takes most of
// the time of a run with many small files.
var roots struct {
	sync.Mutex // guards kept, and the users of all roots
	kept       []*root
}

const mostRoots = 8

// reuse returns the kept root of a folder, if that is still the one at its path; nil otherwise.
func reuse(dir string, now fs.FileInfo) *root {
	roots.Lock()
	defer roots.Unlock()
	for _, r := range roots.kept {
		if r.dir == dir && os.SameFile(r.is, now) {
			r.users++
			return r
		}
	}
	return nil
}

// keep keeps the root of a folder, in place of the oldest or of an earlier one of the same path.
func keep(dir string, opened *os.Root) (*root, error) {
	is, err := opened.Stat(".")
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	r := &root{Root: opened, dir: dir, is: is, users: 1}
	if runtime.GOOS == "windows" { // there no folder with an open one in it can be renamed
		return r, nil
	}
	r.users++
	roots.Lock()
	defer roots.Unlock()
	old := slices.IndexFunc(roots.kept, func(r *root) bool { return r.dir == dir })
	if old < 0 && len(roots.kept) == mostRoots {
		old = 0
	}
	if old >= 0 {
		roots.kept[old].leave()
		roots.kept = slices.Delete(roots.kept, old, old+1)
	}
	roots.kept = append(roots.kept, r)
	return r, nil
}

// openRoot opens a folder; it must be closed.
func openRoot(dir string) (*root, error) {
	now, err := os.Stat(dir)
	if err == nil && !now.IsDir() { // opening a pipe without a writer would block
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	if err == nil {
		if r := reuse(dir, now); r != nil {
			return r, nil
		}
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return keep(dir, opened)
}

// place is a path below an enclosed folder: the open folder that it is in, and its name there.
type place struct {
	*root
	name      string
	dir, path string // the enclosed folder, and the path below it
}

// openPlace opens the folder that a path below dir is in; or dir, where that folder cannot be opened. It must be closed.
func openPlace(dir, path string) (*place, error) {
	p := &place{dir: dir, path: path}
	var parent string
	parent, p.name = filepath.Split(path)
	at := filepath.Join(dir, parent)
	if parent != "" {
		if now, err := os.Lstat(at); err == nil {
			p.root = reuse(at, now)
		}
	}
	if p.root != nil {
		return p, nil
	}
	outer, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	if parent != "" {
		if inner, err := outer.OpenRoot(parent); err == nil {
			_ = outer.Close()
			p.root, err = keep(at, inner)
			return p, err
		}
	}
	p.root, p.name = outer, path
	return p, nil
}

// do carries an operation out.
func (p *place) do(op func(r *root, name string) error) error {
	err := op(p.root, p.name)
	if p.root.dir == p.dir || !escapes(err) {
		return err
	}
	outer, err := openRoot(p.dir) // a link may lead to another folder below dir
	if err != nil {
		return err
	}
	defer outer.Close()
	return op(outer, p.path)
}

func (r *root) Close() error {
	roots.Lock()
	defer roots.Unlock()
	r.leave()
	return nil
}

// leave closes the folder if nobody uses it. The lock must be held.
func (r *root) leave() {
	if r.users--; r.users == 0 {
		_ = r.Root.Close()
	}
}

// within calls do on the disk that a path is on, with its name there.
func within(op, path string, do func(d disk, name string) error) error {
	return withinAs(op, path, path, do)
}

// withinAs is within for an operation that Fault knows by more than its path.
func withinAs(op, what, path string, do func(d disk, name string) error) error {
	if err := Try(op, what); err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	dir, rest := enclosure(path)
	if dir == "" {
		return do(anywhere{}, path)
	}
	at, err := openPlace(dir, rest)
	if errors.Is(err, fs.ErrNotExist) && (op == "mkdir" || op == "remove") {
		return do(anywhere{}, path) // there is no folder yet, and so no link in it
	}
	if err != nil {
		return err
	}
	defer at.Close()
	if err = at.do(func(r *root, name string) error { return do(r, name) }); err != nil {
		return named(op, path, err)
	}
	return nil
}

// named adds the operation and the whole path to an error of a root, and turns one about links out of the root into
// ErrOutside. The system's libraries have no value for that: any error that is not a system error counts as one.
func named(op, path string, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	if escapes(err) {
		err = ErrOutside
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// escapes reports whether an error of a root is about a link out of it.
func escapes(err error) bool {
	var number syscall.Errno
	return err != nil && !errors.Is(err, ErrLinked) && !errors.As(err, &number) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist)
}

// A File is an open file. Its operations ask Fault.
type File struct{ *os.File }

func (f *File) Read(b []byte) (int, error) {
	if err := Try("read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Read(b)
}

func (f *File) Write(b []byte) (n int, err error) {
	if err := Try("write", f.Name()); err != nil {
		if errors.Is(err, ErrTorn) {
			n, _ = f.File.Write(b[:len(b)/2])
		}
		return n, err
	}
	return f.File.Write(b)
}

// Close closes the file, which may be nil.
func (f *File) Close() error {
	if f == nil {
		return os.ErrInvalid
	}
	return f.File.Close()
}

// ReadFrom implements io.ReaderFrom by Write.
func (f *File) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{f}, r) }

// WriteString is Write of a string.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// Sync flushes the file's content to the disk.
func (f *File) Sync() error {
	if err := Try("sync", f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

// Truncate cuts the file off.
func (f *File) Truncate(size int64) error {
	if err := Try("truncate", f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// others are the permissions of others that no new file or folder has, whatever the umask.
const others = 0o022

// OpenFile is like os.OpenFile. It does not open a file of an enclosed folder for writing if the file has a second hard
// link, since that link may be outside of the folder: the error is ErrLinked.
func OpenFile(path string, flag int, mode fs.FileMode) (*File, error) {
	mode &^= others
	var f *os.File
	err := within("open", path, func(d disk, name string) (err error) {
		if _, free := d.(anywhere); free || flag&(os.O_WRONLY|os.O_RDWR) == 0 {
			f, err = d.OpenFile(name, flag, mode)
		} else {
			f, err = openOnly(d, name, flag, mode)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// openOnly opens a file for writing, and empties it if flag says so, unless it has a second name.
func openOnly(d disk, name string, flag int, mode fs.FileMode) (*os.File, error) {
	f, err := d.OpenFile(name, flag&^os.O_TRUNC, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		var names uint64
		if names, err = countNames(f, info); err == nil && names > 1 {
			err = ErrLinked
		}
		if err == nil && flag&os.O_TRUNC != 0 && info.Size() > 0 {
			err = f.Truncate(0)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Create is os.Create.
func Create(path string) (*File, error) {
	return OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// ReadSystem is os.ReadFile, for files in which the system describes itself.
func ReadSystem(path string) ([]byte, error) { return os.ReadFile(path) }

// ReadDir is os.ReadDir.
func ReadDir(path string) ([]fs.DirEntry, error) {
	f, err := OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// WriteFile is os.WriteFile; see also Write.
func WriteFile(path string, raw []byte, mode fs.FileMode) error {
	f, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Close())
}

// Mkdir is os.Mkdir.
func Mkdir(path string, mode fs.FileMode) error {
	return within("mkdir", path, func(d disk, name string) error { return d.Mkdir(name, mode&^others) })
}

// MkdirAll is os.MkdirAll.
func MkdirAll(path string, mode fs.FileMode) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() { // a look costs less
		return nil
	}
	return within("mkdir", path, func(d disk, name string) error { return d.MkdirAll(name, mode&^others) })
}

// Remove is os.Remove.
func Remove(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) { // a look costs less
		return err
	}
	return within("remove", path, disk.Remove)
}

// RemoveAll is os.RemoveAll.
func RemoveAll(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return within("remove", path, disk.RemoveAll)
}

// Chtimes is os.Chtimes.
func Chtimes(path string, accessed, changed time.Time) error {
	return within("chtimes", path, func(d disk, name string) error { return d.Chtimes(name, accessed, changed) })
}

// Rename is os.Rename, within one enclosed folder or between paths outside all such folders.
func Rename(from, to string) error { return pair("rename", from, to, disk.Rename) }

// Link is os.Link; see Rename.
func Link(from, to string) error { return pair("link", from, to, disk.Link) }

func pair(op, from, to string, do func(d disk, from, to string) error) error {
	return withinAs(op, from+Arrow+to, to, func(d disk, name string) error {
		old := from
		if r, ok := d.(*root); ok {
			abs, err := filepath.Abs(from)
			if err == nil {
				old, err = filepath.Rel(r.dir, abs)
			}
			if err != nil || !filepath.IsLocal(old) {
				return ErrOutside
			}
		}
		return do(d, old, name)
	})
}

// CreateTemp is os.CreateTemp.
func CreateTemp(dir, pattern string) (*File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	return create(dir, pattern, 0o600)
}

func create(dir, pattern string, mode fs.FileMode) (*File, error) {
	for {
		f, err := OpenFile(fresh(dir, pattern), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// MkdirTemp is os.MkdirTemp.
func MkdirTemp(dir, pattern string) (string, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	for {
		path := fresh(dir, pattern)
		if err := Mkdir(path, 0o700); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// fresh returns a path with a number at the place of the last star, or at the end.
func fresh(dir, pattern string) string {
	number := fmt.Sprint(rand.Uint64())
	if at := strings.LastIndexByte(pattern, '*'); at >= 0 {
		return filepath.Join(dir, pattern[:at]+number+pattern[at+1:])
	}
	return filepath.Join(dir, pattern+number)
}
