package eventfile

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Writer writes an event file. Its methods return the first error of the writer below it.
type Writer struct {
	w   io.Writer
	err error
}

// NewWriter begins a file with the version of the format; wall is when, in seconds since 1970.
func NewWriter(w io.Writer, wall float64) *Writer {
	out := &Writer{w: w}
	out.event(wall, 0, 3, []byte("brain.Event:2")) // file_version
	return out
}

// Scalar writes a value; its Run is the matter of the file's folder.
func (w *Writer) Scalar(s Scalar) error {
	var value []byte
	value = AppendString(value, 1, s.Tag)
	value = protowire.AppendTag(value, 2, protowire.Fixed32Type) // simple_value
	value = protowire.AppendFixed32(value, math.Float32bits(float32(s.Value)))
	return w.summary(s.Wall, s.Step, value)
}

// Image writes a picture: a whole PNG file of that width and height, in pixels.
func (w *Writer) Image(tag string, step int64, wall float64, png []byte, width, height int) error {
	var image []byte
	image = AppendInt(image, 1, uint64(height))
	image = AppendInt(image, 2, uint64(width))
	image = AppendInt(image, 3, 4) // RGBA
	image = AppendBytes(image, 4, png)
	return w.summary(wall, step, AppendBytes(AppendString(nil, 1, tag), 4, image))
}

// null is tensorflow.TensorProto of a number without a value: a summary needs one, and its plugin looks elsewhere.
var null = AppendBytes(AppendInt(nil, 1, float32Type), 2, nil)

// Plugin writes a message for a plugin of TensorBoard, in the plugin's own format.
func (w *Writer) Plugin(tag, plugin string, wall float64, content []byte) error {
	data := AppendBytes(AppendString(nil, 1, plugin), 2, content)
	value := AppendString(nil, 1, tag)
	value = AppendBytes(value, 9, AppendBytes(nil, 1, data)) // metadata.plugin_data
	value = AppendBytes(value, 8, null)                      // tensor
	return w.summary(wall, 0, value)
}

// summary writes an event with one tensorflow.Summary.Value.
func (w *Writer) summary(wall float64, step int64, value []byte) error {
	w.event(wall, step, 5, AppendBytes(nil, 1, value))
	return w.err
}

// event writes one tensorflow.Event: wall_time = 1, step = 2, and the content in a separate field.
func (w *Writer) event(wall float64, step int64, field protowire.Number, content []byte) {
	var b []byte
	b = protowire.AppendTag(b, 1, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, math.Float64bits(wall))
	if step != 0 {
		b = AppendInt(b, 2, uint64(step))
	}
	w.record(AppendBytes(b, field, content))
}

// record writes a record: its length and the bytes, with a checksum each.
func (w *Writer) record(data []byte) {
	if w.err != nil {
		return
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	head = binary.LittleEndian.AppendUint32(head, checksum(head))
	_, w.err = w.w.Write(slices.Concat(head, data, binary.LittleEndian.AppendUint32(nil, checksum(data))))
}

// AppendBytes, AppendString and AppendInt append a field of a protocol buffer.
func AppendBytes(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func AppendString(b []byte, n protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func AppendInt(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}
