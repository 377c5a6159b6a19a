package external

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// Files that are written in the cell's folder.
const (
	transcriptFile = "policy.jsonl"
	stateFile      = "policy_state.json"
	stderrFile     = "policy.log"
)

// Limits on the size of the conversation: in the file, and in memory for the determinism check.
const (
	maxTranscript = 64 << 20
	maxExamined   = 4 << 20
)

// transcript records the messages and answers: in a file for users, and the first ones in memory for the determinism
// check.
type transcript struct {
	dir       string
	file      *folder.File // nil if no file is kept
	to        *bufio.Writer
	size      int
	exchanges [][2][]byte // messages and answers
	length    int
	err       error
}

func newTranscript(t *stages.Task) *transcript {
	j := &transcript{dir: t.Dir}
	if t.Dir != "" && t.Records == record.AllRecords {
		if j.file, j.err = folder.Create(filepath.Join(t.Dir, transcriptFile)); j.err == nil {
			j.to = bufio.NewWriterSize(j.file, 1<<16)
		}
	}
	return j
}

// add records a message and its answer.
func (j *transcript) add(message, answer []byte) {
	if n := len(message) + len(answer) + 2; j.length+n <= maxExamined {
		j.exchanges = append(j.exchanges, [2][]byte{bytes.Clone(message), bytes.Clone(answer)})
		j.length += n
	} else {
		j.length = maxExamined // keep no later messages: they would not follow the last one kept
	}
	if j.to == nil || j.size > maxTranscript {
		return
	}
	for _, line := range [][]byte{message, answer} {
		j.size += len(line) + 1
		j.to.Write(line)
		j.to.WriteByte('\n')
	}
}

// close completes the file and adds it to the cell's record.
func (j *transcript) close(d *programAdmitter, out *record.Cell) {
	if j.to != nil {
		j.err = errors.Join(j.err, j.to.Flush(), j.file.Close())
		out.Files = append(out.Files, record.File{Name: transcriptFile, Size: int64(j.size)})
		if j.size > maxTranscript {
			out.Warnings = append(out.Warnings, record.Warning{Code: "long_conversation", Cell: d.cell.Cell, Text: fmt.Sprintf(
				"%s has only the first %d MiB of the messages of the policy's program", transcriptFile, maxTranscript>>20)})
		}
	}
	if text := d.process.stderr.lastLines(1 << 30); j.dir != "" && text != "" {
		j.write(out, stderrFile, []byte(text+"\n"))
	}
	if j.dir != "" && len(d.state) > 0 && string(d.state) != "null" {
		j.write(out, stateFile, d.state)
	}
	if j.err != nil && out.Error == "" {
		out.Error = fmt.Sprintf("policy %q: write its messages: %v", d.cell.Policy, j.err)
	}
}

func (j *transcript) write(out *record.Cell, name string, raw []byte) {
	if err := folder.Write(filepath.Join(j.dir, name), raw, 0o644); err != nil {
		j.err = errors.Join(j.err, err)
		return
	}
	out.Files = append(out.Files, record.File{Name: name, Size: int64(len(raw))})
}

// previousState returns the state that the program left after the previous replicate; nil if it left no state.
func previousState(t *stages.Task) (json.RawMessage, error) {
	c := &t.Setup.Cell
	if !t.Policy.Program().Learns || c.Replicate < 2 || t.Dir == "" {
		return nil, nil
	}
	name := strings.TrimSuffix(c.Cell, "/"+record.TwinDir)
	dir := filepath.Dir(t.Dir)
	if name != c.Cell {
		dir = filepath.Dir(dir)
	}
	own := fmt.Sprint(c.Replicate)
	before := strings.TrimSuffix(name, own) + fmt.Sprint(c.Replicate-1)
	raw, err := folder.ReadFile(filepath.Join(dir, before), stateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("it learns, and the replicate before, %s, left no state: run that first", before)
	}
	if err == nil && !json.Valid(raw) {
		err = errors.New("it is damaged")
	}
	if err != nil {
		return nil, fmt.Errorf("read the state that %s left: %w", before, err)
	}
	return raw, nil
}
