// Package eventfile reads the scalars of TensorBoard's event files, which TensorFlow,
// PyTorch and others write while they train, and writes such files.
//
// A file is a sequence of records: the length (8 bytes, little-endian), a checksum of it
// (4 bytes), that many bytes, and a checksum of these; the bytes are a protocol buffer
// (tensorflow.Event).
package eventfile

import (
	"bufio"
	"bytes"
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

// Scalar is a value that a program has written to an event file.
type Scalar struct {
	Tag   string
	Step  int64
	Value float64
	// Wall is the time at which it was written, in Unix seconds.
	Wall float64
	// Run is the folder of the file, relative to the follower's folder, such as "train"; empty for a file in the
	// follower's folder.
	Run string
}

// Is reports whether name is the scalar's tag, or its run and tag, such as "train/epoch_loss".
func (s Scalar) Is(name string) bool {
	return name != "" && (name == s.Tag || s.Run != "" && name == s.Run+"/"+s.Tag)
}

// ErrDamaged is returned for a file with wrong checksums, or that is not an event file.
var ErrDamaged = errors.New("it is no TensorBoard event file, or it is damaged")

// Limits for files, which may be damaged or malicious.
const (
	maxRecord = 1 << 30  // bytes of a record
	maxEvent  = 32 << 20 // bytes of a record that is read into memory; larger records are graphs and images
	maxValues = 1 << 16  // scalars of a record
	maxBatch  = 4 << 20  // bytes after which Read stops, at the end of a record
	maxTags   = 1000     // tags that a follower stores
	maxTag    = 1 << 10  // bytes of such a tag
)

// Read reads scalars from a file, until a few MiB were read. It ignores an incomplete record at the end. offset is
// where the next record begins.
func Read(r io.Reader) (scalars []Scalar, offset int64, err error) {
	var head [12]byte
	for offset < maxBatch {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return scalars, offset, unfinished(err)
		}
		length := binary.LittleEndian.Uint64(head[:8])
		if checksum(head[:8]) != binary.LittleEndian.Uint32(head[8:]) || length > maxRecord {
			return scalars, offset, fmt.Errorf("at byte %d: %w", offset, ErrDamaged)
		}
		whole, found, err := readRecord(r, int64(length))
		switch {
		case err != nil:
			return scalars, offset, fmt.Errorf("at byte %d: %w", offset, err)
		case !whole:
			return scalars, offset, nil
		}
		scalars = append(scalars, found...)
		offset += 12 + int64(length) + 4
	}
	return scalars, offset, nil
}

// readRecord reads a record and its checksum; whole is false if the file ends before.
func readRecord(r io.Reader, length int64) (whole bool, scalars []Scalar, err error) {
	sum := crc32.New(castagnoli)
	var data bytes.Buffer
	var into io.Writer = sum
	if length <= maxEvent {
		into = io.MultiWriter(sum, &data)
	}
	if _, err := io.CopyN(into, r, length); err != nil {
		return false, nil, unfinished(err)
	}
	var tail [4]byte
	if _, err := io.ReadFull(r, tail[:]); err != nil {
		return false, nil, unfinished(err)
	}
	if masked(sum.Sum32()) != binary.LittleEndian.Uint32(tail[:]) {
		return false, nil, ErrDamaged
	}
	scalars, err = event(data.Bytes())
	return err == nil, scalars, err
}

// unfinished returns nil if err only says that the file ended.
func unfinished(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the masked CRC-32C that the format requires.
func checksum(b []byte) uint32 { return masked(crc32.Checksum(b, castagnoli)) }

func masked(c uint32) uint32 { return (c>>15 | c<<17) + 0xa282ead8 }

// fields calls f for each field of a protocol buffer, with its number and value. Values of the types varint, fixed32
// and fixed64 are passed as a number, and others as bytes.
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

// event returns the scalars of a tensorflow.Event. Its fields are wall_time = 1, step = 2, summary = 5.
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
				if len(scalars) > maxValues {
					return fmt.Errorf("an event of more than %d values: %w", maxValues, ErrDamaged)
				}
				return err
			})
		}
		return nil
	})
	if step > contract.MostCount {
		return nil, fmt.Errorf("the file has step %d: steps above %d are not read", step, uint64(contract.MostCount))
	}
	for i := range scalars {
		scalars[i].Wall, scalars[i].Step = wall, step
	}
	return scalars, err
}

// summary parses a tensorflow.Summary.Value with the fields tag = 1, simple_value = 2, tensor = 8. ok is false if the
// value is not a scalar.
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

// Types of tensors that can hold a scalar.
const (
	float32Type = 1
	float64Type = 2
)

// scalarTensor parses a tensorflow.TensorProto with one number. Its fields are dtype = 1, shape = 2, tensor_content =
// 4, float_val = 5, double_val = 6.
func scalarTensor(b []byte) (v float64, ok bool) {
	var kind uint64
	var content []byte
	whole := true
	err := fields(b, func(n protowire.Number, number uint64, raw []byte) error {
		switch n {
		case 1:
			kind = number
		case 2: // a scalar has no dimensions
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

// Follower reads the scalars that programs append to the event files in a folder.
type Follower struct {
	dir     string
	offsets map[string]int64
	tags    map[string]bool
}

// Follow returns a follower of the event files in a folder, which need not exist yet.
func Follow(dir string) *Follower {
	return &Follower{dir: dir, offsets: map[string]int64{}, tags: map[string]bool{}}
}

// Tags returns the tags of all scalars that were read, sorted, each with its run.
func (f *Follower) Tags() []string { return slices.Sorted(maps.Keys(f.tags)) }

// Next calls each with the scalars that were written since the last call, in batches, file by file in the order of
// names. It reports a damaged file once and does not read it again.
func (f *Follower) Next(each func([]Scalar)) error {
	var files []string
	err := filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // the folder does not exist yet, or was deleted
		}
		if d.Type().IsRegular() && strings.Contains(d.Name(), "tfevents") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(files)
	var errs []error
	for _, path := range files {
		run, _ := filepath.Rel(f.dir, filepath.Dir(path))
		run = strings.TrimPrefix(filepath.ToSlash(run), ".")
		for more := true; more; {
			var scalars []Scalar
			var err error
			scalars, more, err = f.read(path)
			for i := range scalars {
				scalars[i].Run = run
				f.note(strings.TrimPrefix(run+"/"+scalars[i].Tag, "/"))
			}
			if len(scalars) > 0 {
				each(scalars)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", path, err))
			}
		}
	}
	return errors.Join(errs...)
}

// note stores a tag.
func (f *Follower) note(tag string) {
	if len(f.tags) < maxTags && len(tag) <= maxTag {
		f.tags[tag] = true
	}
}

// given is the offset of a file that is not read again.
const given = -1

// read reads the next batch of a file; more reports whether there may be another.
func (f *Follower) read(path string) (scalars []Scalar, more bool, err error) {
	at := f.offsets[path]
	if at == given {
		return nil, false, nil
	}
	file, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, false, nil // deleted in the meantime
	}
	defer file.Close()
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return nil, false, err
	}
	scalars, read, err := Read(bufio.NewReader(file))
	f.offsets[path] = at + read
	if err != nil {
		f.offsets[path] = given
	}
	return scalars, read >= maxBatch && err == nil, err
}
