// Package parquet writes tables in the format Apache Parquet.
package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	file "github.com/parquet-go/parquet-go/format"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/results/table/format"
)

func init() {
	format.Register(format.Format{
		Name: "parquet", Doc: "Apache Parquet, for pandas, DuckDB and similar programs; unknown values are null",
		Write: write,
	})
}

// groupRows is the maximum number of rows in a row group. Each column of a row group has a single page.
const groupRows = 1 << 16

// write writes a table in the format that https://parquet.apache.org/docs/file-format describes: pages, then their
// metadata. The module parquet-go can also write tables, but it imports all codecs, which take long to compile.
func write(w io.Writer, t *table.Table) error {
	meta := file.FileMetaData{Version: 1, NumRows: int64(len(t.Rows)), CreatedBy: "tfexp",
		Schema: []file.SchemaElement{{Name: "table", NumChildren: thrift.New(int32(len(t.Columns)))}}}
	for _, c := range t.Columns {
		meta.Schema = append(meta.Schema, schema(&c))
	}
	out := bytes.NewBufferString("PAR1")
	compact := thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(out))
	for rows := range slices.Chunk(t.Rows, groupRows) {
		group := file.RowGroup{NumRows: int64(len(rows)), Ordinal: int16(len(meta.RowGroups))}
		for i, c := range t.Columns {
			of, begins := meta.Schema[i+1].Type.V, out.Len()
			raw, nulls, err := page(of, rows, i)
			if err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
			packed := s2.EncodeSnappy(nil, raw)
			statistics := file.Statistics{NullCount: nulls}
			if err := compact.Encode(&file.PageHeader{Type: file.DataPage,
				UncompressedPageSize: int32(len(raw)), CompressedPageSize: int32(len(packed)),
				DataPageHeader: thrift.New(file.DataPageHeader{NumValues: int32(len(rows)), Encoding: file.Plain,
					DefinitionLevelEncoding: file.RLE, RepetitionLevelEncoding: file.RLE, Statistics: statistics})}); err != nil {
				return fmt.Errorf("write parquet: %w", err)
			}
			unpacked := int64(out.Len() - begins + len(raw))
			out.Write(packed)
			group.Columns = append(group.Columns, file.ColumnChunk{MetaData: file.ColumnMetaData{
				Type: of, Encoding: []file.Encoding{file.RLE, file.Plain}, PathInSchema: []string{c.Name}, Codec: file.Snappy,
				NumValues: int64(len(rows)), TotalUncompressedSize: unpacked, TotalCompressedSize: int64(out.Len() - begins),
				DataPageOffset: int64(begins), Statistics: statistics}})
			group.TotalByteSize += unpacked
		}
		meta.RowGroups = append(meta.RowGroups, group)
	}
	begins := out.Len()
	err := compact.Encode(&meta)
	out.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(out.Len()-begins)), "PAR1"...))
	if err == nil {
		_, err = out.WriteTo(w)
	}
	if err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	return nil
}

// schema describes a column. All columns may have null values.
func schema(c *table.Column) file.SchemaElement {
	of := file.SchemaElement{Name: c.Name, RepetitionType: thrift.New(file.Optional), Type: thrift.New(file.Double)}
	switch {
	case c.Kind.IsText():
		of.Type, of.ConvertedType = thrift.New(file.ByteArray), thrift.New(deprecated.UTF8)
		of.LogicalType.Value = &file.StringType{}
	case c.Kind == table.AsFlag:
		of.Type = thrift.New(file.Boolean)
	}
	return of
}

// page encodes the fields of a column: first a bit for each field, set if its value is known, then the known values. It
// also returns the number of unknown values.
func page(of file.Type, rows [][]string, column int) (raw []byte, nulls int64, err error) {
	known, values := make([]byte, (len(rows)+7)/8), []byte(nil)
	for i, row := range rows {
		field, n := row[column], i-int(nulls)
		if field == "" {
			nulls++
			continue
		}
		setBit(known, i, true)
		switch of {
		case file.Double:
			var v float64
			v, err = strconv.ParseFloat(field, 64)
			values = binary.LittleEndian.AppendUint64(values, math.Float64bits(v))
		case file.Boolean:
			var v bool
			v, err = strconv.ParseBool(field)
			if n%8 == 0 {
				values = append(values, 0)
			}
			setBit(values, n, v)
		default:
			values = append(binary.LittleEndian.AppendUint32(values, uint32(len(field))), field...)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	run := append(binary.AppendUvarint(nil, uint64(len(known))<<1|1), known...) // a single bit-packed run
	raw = append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
	return append(raw, values...), nulls, nil
}

// setBit sets bit n of packed. Bit 0 is the lowest bit of the first byte.
func setBit(packed []byte, n int, set bool) {
	if set {
		packed[n/8] |= 1 << (n % 8)
	}
}
