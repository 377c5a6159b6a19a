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

// All operations on files are in this file: `make lint` rejects functions of package os that open, create, change or
// remove files anywhere else.

// Fault is for tests. If it is not nil, it is called before each operation on files (open, read, write, sync,
// truncate, mkdir, rename, link, chtimes, remove, lock, commit) and each start of a program (fork, exec). If it
// returns an error, the operation fails with that error.
var Fault func(op, path string) error

// Arrow separates the two paths of a rename or link in calls of Fault.
const Arrow = " -> "

// ErrTorn is returned by Fault to write only the first half of the data.
var ErrTorn = errors.New("the write was torn")

// Try calls Fault, if it is set.
func Try(op, path string) error {
	if f := Fault; f != nil {
		return f(op, path)
	}
	return nil
}

// enclosed has the absolute paths of the folders of results whose links must not lead outside.
var enclosed sync.Map // absolute path → true

// Enclose marks a folder as a folder of results, whose content may come from somebody else. From then on, operations
// on paths below it stay below it, and a link that leads outside is the error ErrOutside. The folder itself may be a
// link, and need not exist yet.
func Enclose(dir string) {
	if abs, err := filepath.Abs(dir); err == nil {
		enclosed.Store(abs, true)
	}
}

// disk has the methods of *os.Root that this package uses.
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

// anywhere is a disk without limits, for paths that are not below an enclosed folder, such as paths that users type.
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

// enclosure returns the outermost enclosed folder above a path, and the rest of the path.
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
	users int // operations that use it now, plus one while it is kept open
}

// roots are the folders of the latest operations, kept open because the next ones are mostly in the same folders.
// Otherwise a run with many small files would spend most of its time opening folders.
var roots struct {
	sync.Mutex // guards kept, and the users of all roots
	kept       []*root
}

const mostRoots = 8

// reuse returns the open root of a folder, if the folder is still at its path; otherwise nil.
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

// keep keeps the root of a folder open. It replaces an earlier root of the same path, or the oldest one.
func keep(dir string, opened *os.Root) (*root, error) {
	is, err := opened.Stat(".")
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	r := &root{Root: opened, dir: dir, is: is, users: 1}
	if runtime.GOOS == "windows" { // Windows cannot rename a folder that contains an open one
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

// openRoot opens a folder. The result must be closed.
func openRoot(dir string) (*root, error) {
	now, err := os.Stat(dir)
	if err == nil && !now.IsDir() { // opening a pipe that nothing writes to would block
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

// place is a path below an enclosed folder, as an open folder and a name in it.
type place struct {
	*root
	name      string
	dir, path string // the enclosed folder, and the path relative to it
}

// openPlace opens the parent folder of a path below dir; if that fails, it opens dir. The result must be closed.
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

// do runs an operation at the place.
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

// leave closes the folder after its last use. The lock must be held.
func (r *root) leave() {
	if r.users--; r.users == 0 {
		_ = r.Root.Close()
	}
}

// within calls do with the disk of a path, and the path's name on it.
func within(op, path string, do func(d disk, name string) error) error {
	return withinAs(op, path, path, do)
}

// withinAs is like within. Fault gets `what` instead of the path.
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
		return do(anywhere{}, path) // the folder does not exist yet, so it has no links
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

// named adds the operation and the full path to an error of a root. An error about a link that leads outside becomes
// ErrOutside. The standard library has no value for it: any error that is not a system error is taken for one.
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

// escapes reports whether an error of a root is about a link that leads outside.
func escapes(err error) bool {
	var number syscall.Errno
	return err != nil && !errors.Is(err, ErrLinked) && !errors.As(err, &number) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist)
}

// A File is an open file whose operations call Fault.
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

// ReadFrom implements io.ReaderFrom; it calls Write.
func (f *File) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{f}, r) }

// WriteString is like Write for a string.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// Sync flushes the file's content to the disk.
func (f *File) Sync() error {
	if err := Try("sync", f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

// Truncate changes the size of the file.
func (f *File) Truncate(size int64) error {
	if err := Try("truncate", f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// others are permissions for other users that new files and folders never have, whatever the umask.
const others = 0o022

// OpenFile is like os.OpenFile. In an enclosed folder, it does not open a file for writing that has a second hard
// link, because the other link may be outside: the error is ErrLinked.
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

// openOnly opens a file for writing, unless it has a second hard link, and truncates it if flag includes O_TRUNC.
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

// ReadSystem is os.ReadFile, for files of the operating system such as those in /proc.
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
	if info, err := os.Lstat(path); err == nil && info.IsDir() { // checking first is faster
		return nil
	}
	return within("mkdir", path, func(d disk, name string) error { return d.MkdirAll(name, mode&^others) })
}

// Remove is os.Remove.
func Remove(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) { // checking first is faster
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

// Rename is os.Rename. Both paths must be in the same enclosed folder, or outside all of them.
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

// fresh returns a path in which a random number replaces the last star of the pattern, or is appended.
func fresh(dir, pattern string) string {
	number := fmt.Sprint(rand.Uint64())
	if at := strings.LastIndexByte(pattern, '*'); at >= 0 {
		return filepath.Join(dir, pattern[:at]+number+pattern[at+1:])
	}
	return filepath.Join(dir, pattern+number)
}
