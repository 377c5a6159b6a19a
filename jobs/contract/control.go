package contract

import (
	"encoding/json"
	"strconv"
	"time"
)

// Message is the content of the control file: a JSON object, or only the two numbers "inter intra". Missing fields are
// zero or nil.
//
// The fields Inter to Settings are the current state, which is valid until the file changes. Checkpoint, Warning and
// Deepen are requests. A program performs them once for each serial; without a serial, once each time the file is
// written.
type Message struct {
	// Inter and Intra are the current allotment: the number of operations at once, and the threads of each. 0 means no
	// change.
	Inter int `json:"inter,omitempty"`
	Intra int `json:"intra,omitempty"`
	// Allotment is the current allotment in cores, or in GPUs for a job with GPUs. It is for programs without two
	// thread pools. Change is "up" or "down" if the allotment has just grown or shrunk.
	Allotment int    `json:"allotment,omitempty"`
	Change    string `json:"change,omitempty"`
	// Budget is the job's total budget. TimeLeft is the rest of it when the file was written. Both are seconds of
	// service time.
	Budget   *float64 `json:"budget,omitempty"`
	TimeLeft *float64 `json:"time_left,omitempty"`
	// Settings are settings of the program, such as batch or learning_rate, by name.
	Settings map[string]json.RawMessage `json:"settings,omitempty"`
	// Serial is the number of the request; requests of a job count from 1.
	Serial int64 `json:"serial,omitempty"`
	// Checkpoint requests a checkpoint now.
	Checkpoint bool `json:"checkpoint,omitempty"`
	// Warning is the time in seconds after which the job's server is taken away.
	Warning *float64 `json:"warning,omitempty"`
	// Deepen requests another layer in this block of the network; blocks count from 0. The number of blocks, and -1,
	// request nothing.
	Deepen *int `json:"deepen,omitempty"`

	// Written is the modification time of the file.
	Written time.Time `json:"-"`
}

// Asking returns a message with the state of m and the requests of request.
func (m Message) Asking(request Message) Message {
	m.Serial, m.Checkpoint, m.Warning, m.Deepen = request.Serial, request.Checkpoint, request.Warning, request.Deepen
	return m
}

// Asks reports whether the message has a request.
func (m Message) Asks() bool { return m.Checkpoint || m.Warning != nil || m.Deepen != nil }

// Setting returns the value of a setting as text, and whether the message has the setting.
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
