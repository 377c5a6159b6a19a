package watch

import (
	"github.com/tfexp/tfexp/results/folder"
)

// LogPart is a part of a log.
type LogPart struct {
	Text []byte
	From int64 // offset of Text in the file, in bytes
	Size int64 // size of the file in bytes
}

// mostLog is the largest size of a part, in bytes.
const mostLog = 256 << 10

// readLogPart reads a part of a log from a byte offset. If from is negative, it reads the end.
func readLogPart(dir string, from int64, name ...string) (LogPart, error) {
	f, err := folder.Open(dir, name...)
	if err != nil {
		return LogPart{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return LogPart{}, err
	}
	l := LogPart{Size: info.Size(), From: from}
	if from < 0 {
		l.From = max(0, l.Size-mostLog)
	}
	l.Text = make([]byte, min(mostLog, max(0, l.Size-l.From)))
	n, _ := f.ReadAt(l.Text, l.From) // n is smaller if the file has become shorter
	l.Text = l.Text[:n]
	return l, nil
}
