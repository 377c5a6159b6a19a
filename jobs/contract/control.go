package contract

import (
	"encoding/json"
	"strconv"
	"time"
)

// Message is the content of the control file: a JSON object, or the two
// numbers "inter intra" alone. Fields that are not given are zero or nil.
//
// Inter to Settings are the present state, and hold until the file changes
// them. Checkpoint, Warning and Deepen are requests: a program carries them out
// once for each serial, or for each time that a file without a serial is written.
type Message struct {
	// Inter and Intra are the present allotment: operations at once, threads
	// of each. 0: as before.
	Inter int `json:"inter,omitempty"`
	Intra int `json:"intra,omitempty"`
	// Allotment is the present allotment in cores (in GPUs, for a job that
	// holds some), for programs that have no two pools. Change is "up" or
	// "down" where it has just grown or shrunk.
	Allotment int    `json:"allotment,omitempty"`
	Change    string `json:"change,omitempty"`
	// Budget is the job's whole budget, TimeLeft the rest of it when the file
	// was written; both in seconds of service time.
	Budget   *float64 `json:"budget,omitempty"`
	TimeLeft *float64 `json:"time_left,omitempty"`
	// Settings are the program's own: batch, learning_rate, …
	Settings map[string]json.RawMessage `json:"settings,omitempty"`
	// Serial numbers the requests of a job, from 1.
	Serial int64 `json:"serial,omitempty"`
	// Checkpoint asks for a checkpoint, now.
	Checkpoint bool `json:"checkpoint,omitempty"`
	// Warning is in how many seconds the job's server is taken away.
	Warning *float64 `json:"warning,omitempty"`
	// Deepen asks for another layer in that block of the network, from 0. The
	// number of blocks, and -1, ask for nothing.
	Deepen *int `json:"deepen,omitempty"`

	// Written is when the file was written, by its modification time.
	Written time.Time `json:"-"`
}

// Asking returns a message with the state in m and the requests in request.
func (m Message) Asking(request Message) Message {
	m.Serial, m.Checkpoint, m.Warning, m.Deepen = request.Serial, request.Checkpoint, request.Warning, request.Deepen
	return m
}

// Asks reports whether the message has a request.
func (m Message) Asks() bool { return m.Checkpoint || m.Warning != nil || m.Deepen != nil }

// Setting returns the value of a setting as the text that a flag would have,
// and whether the message has it.
func (m Message) Setting(name string) (string, bool) {
	raw, ok := m.Settings[name]
	if !ok {
		return "", false
	}
	if s, err := strconv.Unquote(string(raw)); err == nil {
		return s, true
	}
	return string(raw), true
}
