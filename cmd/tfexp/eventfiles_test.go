package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfexp/tfexp/jobs/contract"
)

// eventwriter is a program that trains nothing. It writes event files of TensorBoard below its checkpoint folder, with
// the scalars train/loss and accuracy every ten steps. It does not use the package that reads these files.
func eventwriter() {
	dir := filepath.Join(os.Getenv(contract.EnvCheckpointDir), os.Args[1])
	steps, err := strconv.Atoi(os.Getenv(contract.EnvSteps))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = writeEvents(filepath.Join(dir, "events.out.tfevents.1"), steps)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func writeEvents(path string, steps int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for step := 10; step <= steps; step += 10 {
		wall := float64(time.Now().UnixNano()) / 1e9
		for tag, value := range map[string]float32{"train/loss": 10 / float32(step+10), "accuracy": 1 - 5/float32(step)} {
			if _, err := f.Write(eventRecord(scalarEvent(wall, step, tag, value))); err != nil {
				return err
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// scalarEvent is a tensorflow.Event with one simple value.
func scalarEvent(wall float64, step int, tag string, value float32) []byte {
	scalar := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), tag)
	scalar = protowire.AppendFixed32(protowire.AppendTag(scalar, 2, protowire.Fixed32Type), math.Float32bits(value))
	summary := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), scalar)
	event := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(wall))
	event = protowire.AppendVarint(protowire.AppendTag(event, 2, protowire.VarintType), uint64(step))
	return protowire.AppendBytes(protowire.AppendTag(event, 5, protowire.BytesType), summary)
}

// eventRecord frames bytes with their length and checksums.
func eventRecord(data []byte) []byte {
	masked := func(b []byte) uint32 {
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return (c>>15 | c<<17) + 0xa282ead8
	}
	record := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	record = binary.LittleEndian.AppendUint32(record, masked(record))
	record = append(record, data...)
	return binary.LittleEndian.AppendUint32(record, masked(data))
}
