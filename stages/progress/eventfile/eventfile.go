// Package eventfile reads the scalars of TensorBoard's event files, which TensorFlow,
// PyTorch and others write while they train, and writes such files.
//
// A file is a sequence of records: the length (8 bytes, little-endian), a checksum of it
// (4 bytes), that many bytes, and a checksum of these; the bytes are a protocol buffer
// (tensorflow.Event).
package eventfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfexp/tfexp/jobs/contract"

	"github.com/tfexp/tfexp/results/folder"
)

// Scalar is one value that a program has written.
type Scalar struct {
	Tag   string
	Step  int64
	Value float64
	// Wall is when it was written, in seconds since 1970.
	Wall float64
	// Run is the folder of the file, relative to the follower's folder, with
	// slashes: "train"; empty for a file in that folder itself.
	Run string
}

// Is reports whether a name means the scalar: it is the scalar's tag, or its run
// and tag, as TensorBoard shows them ("train/epoch_loss").
func (s Scalar) Is(name string) bool {
	return name != "" && (name == s.Tag || s.Run != "" && name == s.Run+"/"+s.Tag)
}

// ErrDamaged is returned for a file whose checksums are wrong, or that is not an event file.
var ErrDamaged = errors.New("it is no TensorBoard event file, or it is damaged")

// maxRecord bounds a record, in bytes: images and graphs are skipped, but read.
const maxRecord = 1 << 30

// Read reads the scalars of a file. A last record that is not whole yet is left out:
// offset is where the next one begins.
func Read(r io.Reader) (scalars []Scalar, offset int64, err error) {
	var head [12]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return scalars, offset, unfinished(err)
		}
		length := binary.LittleEndian.Uint64(head[:8])
		if checksum(head[:8]) != binary.LittleEndian.Uint32(head[8:]) || length > maxRecord {
			return scalars, offset, fmt.Errorf("at byte %d: %w", offset, ErrDamaged)
		}
		data, err := io.ReadAll(io.LimitReader(r, int64(length)+4))
		if err != nil {
			return scalars, offset, err
		}
		if uint64(len(data)) < length+4 {
			return scalars, offset, nil
		}
		if checksum(data[:length]) != binary.LittleEndian.Uint32(data[length:]) {
			return scalars, offset, fmt.Errorf("at byte %d: %w", offset, ErrDamaged)
		}
		found, err := event(data[:length])
		if err != nil {
			return scalars, offset, fmt.Errorf("at byte %d: %w", offset, err)
		}
		scalars = append(scalars, found...)
		offset += 12 + int64(length) + 4
	}
}

// unfinished returns nil for an end of the file that is not an error.
func unfinished(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is a CRC-32C that is masked, as the format wants it.
func checksum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// fields calls f with each field of a protocol buffer: its number, and its value as a
// number (of the types varint, fixed32 and fixed64) or as bytes.
func fields(b []byte, f func(n protowire.Number, number uint64, bytes []byte) error) error {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return ErrDamaged
		}
		b = b[size:]
		var number uint64
		var raw []byte
		switch kind {
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, size = protowire.ConsumeFixed32(b)
			number = uint64(v)
		case protowire.Fixed64Type:
			number, size = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			raw, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return ErrDamaged
		}
		if err := f(n, number, raw); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// event returns the scalars of one tensorflow.Event: wall_time = 1, step = 2,
// summary = 5.
func event(b []byte) (scalars []Scalar, err error) {
	var wall float64
	var step int64
	err = fields(b, func(n protowire.Number, number uint64, raw []byte) error {
		switch n {
		case 1:
			wall = math.Float64frombits(number)
		case 2:
			step = int64(number)
		case 5:
			return fields(raw, func(n protowire.Number, _ uint64, value []byte) error {
				if n != 1 {
					return nil
				}
				s, ok, err := summary(value)
				if ok {
					scalars = append(scalars, s)
				}
				return err
			})
		}
		return nil
	})
	if step > contract.MostCount {
		return nil, fmt.Errorf("step %d: no program gets so far", step)
	}
	for i := range scalars {
		scalars[i].Wall, scalars[i].Step = wall, step
	}
	return scalars, err
}

// summary reads one tensorflow.Summary.Value: tag = 1, simple_value = 2, tensor = 8. ok is
// false for any value that is not a scalar.
func summary(b []byte) (s Scalar, ok bool, err error) {
	err = fields(b, func(n protowire.Number, number uint64, raw []byte) error {
		switch n {
		case 1:
			s.Tag = string(raw)
		case 2:
			s.Value, ok = float64(math.Float32frombits(uint32(number))), true
		case 8:
			var v float64
			if v, ok = scalarTensor(raw); ok {
				s.Value = v
			}
		}
		return nil
	})
	return s, ok, err
}

// The types of tensors that hold scalars.
const (
	float32Type = 1
	float64Type = 2
)

// scalarTensor reads a tensorflow.TensorProto of one number: dtype = 1, shape = 2,
// tensor_content = 4, float_val = 5, double_val = 6.
func scalarTensor(b []byte) (v float64, ok bool) {
	var kind uint64
	var content []byte
	whole := true
	err := fields(b, func(n protowire.Number, number uint64, raw []byte) error {
		switch n {
		case 1:
			kind = number
		case 2: // a scalar has no dimension
			_ = fields(raw, func(n protowire.Number, _ uint64, _ []byte) error {
				whole = whole && n != 2
				return nil
			})
		case 4:
			content = raw
		case 5:
			if len(raw) == 4 {
				v, ok = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), true
			} else if raw == nil {
				v, ok = float64(math.Float32frombits(uint32(number))), true
			}
		case 6:
			if len(raw) == 8 {
				v, ok = math.Float64frombits(binary.LittleEndian.Uint64(raw)), true
			} else if raw == nil {
				v, ok = math.Float64frombits(number), true
			}
		}
		return nil
	})
	switch {
	case kind == float32Type && len(content) == 4:
		v, ok = float64(math.Float32frombits(binary.LittleEndian.Uint32(content))), true
	case kind == float64Type && len(content) == 8:
		v, ok = math.Float64frombits(binary.LittleEndian.Uint64(content)), true
	}
	return v, ok && err == nil && whole
}

// Follower reads what programs add to the event files below a folder.
type Follower struct {
	dir     string
	offsets map[string]int64
	tags    map[string]bool
}

// Follow returns a follower of the event files below a folder, which need not be there
// yet.
func Follow(dir string) *Follower {
	return &Follower{dir: dir, offsets: map[string]int64{}, tags: map[string]bool{}}
}

// Tags lists the tags of the scalars that were read so far, sorted, each with its
// run.
func (f *Follower) Tags() []string { return slices.Sorted(maps.Keys(f.tags)) }

// Next returns the scalars that were written since the last call, file by file in the
// order of their names. A damaged file is an error once, and not read again.
func (f *Follower) Next() ([]Scalar, error) {
	var files []string
	err := filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is not there yet, or was removed
		}
		if d.Type().IsRegular() && strings.Contains(d.Name(), "tfevents") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var all []Scalar
	var errs []error
	for _, path := range files {
		scalars, err := f.read(path)
		run, _ := filepath.Rel(f.dir, filepath.Dir(path))
		run = strings.TrimPrefix(filepath.ToSlash(run), ".")
		for i := range scalars {
			scalars[i].Run = run
			f.tags[strings.TrimPrefix(run+"/"+scalars[i].Tag, "/")] = true
		}
		all = append(all, scalars...)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	return all, errors.Join(errs...)
}

// given is the offset of a file that is not read again.
const given = -1

func (f *Follower) read(path string) ([]Scalar, error) {
	at := f.offsets[path]
	if at == given {
		return nil, nil
	}
	file, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil // removed in the meantime
	}
	defer file.Close()
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return nil, err
	}
	scalars, read, err := Read(file)
	f.offsets[path] = at + read
	if err != nil {
		f.offsets[path] = given
	}
	return scalars, err
}
