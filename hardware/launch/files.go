package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// Absolute makes a path of tfexp's independent of the job's working directory. The empty path stays empty.
func Absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Control returns the content of the control file of a job that has n cores.
func (j *Job) Control(n int) []byte {
	inter, intra := j.Pools(n)
	return fmt.Appendf(nil, "%d %d\n", inter, intra)
}

// Content returns the content of the control file of a job that has n cores, had so many before (0: not known), has
// used so much of its budget, and is asked for something, or for nothing.
func (j *Job) Content(n, before int, used time.Duration, request contract.Message) ([]byte, error) {
	m := j.Stands(n, before, used)
	m.Settings = j.Standing.Settings
	if !request.Asks() {
		request = j.Standing // the last request, which a program that has carried it out knows by its serial
	}
	m = m.Asking(request)
	if reflect.ValueOf(m).IsZero() {
		return j.Control(n), nil
	}
	return j.Request(n, m)
}

// Request returns the content of the control file of a job that has n cores and is asked for something.
func (j *Job) Request(n int, request contract.Message) ([]byte, error) {
	request.Inter, request.Intra = j.Pools(n)
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("write control file: %w", err)
	}
	return append(text, '\n'), nil
}

// ReplaceControl gives the control file of a job, if it has one, another content. The file is replaced as a whole;
// it is not synced, since it means nothing once the job is dead. at is when the content held, which is the file's
// time: a program counts the time left from there, however long the write took.
func (j *Job) ReplaceControl(content []byte, at time.Time) error {
	if j.ControlPath == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(j.ControlPath), 0o777); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	next := j.ControlPath + ".new"
	if err := os.WriteFile(next, content, 0o666); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	if err := os.Chtimes(next, at, at); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	if err := os.Rename(next, j.ControlPath); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	return nil
}

// Prepare makes what a job that is given n cores finds when it starts: its control file and its checkpoint folder.
// used is what earlier attempts have used of its budget.
func (j *Job) Prepare(n int, used time.Duration) error {
	text, err := j.Content(n, 0, used, contract.Message{})
	if err != nil {
		return err
	}
	if err := j.ReplaceControl(text, time.Now()); err != nil {
		return err
	}
	if j.CheckpointDir == "" {
		return nil
	}
	if err := os.MkdirAll(j.CheckpointDir, 0o777); err != nil {
		return fmt.Errorf("make checkpoint directory: %w", err)
	}
	return nil
}

// Underlying removes the operation and the path from an error whose caller names them itself.
func Underlying(err error) error {
	var execErr *exec.Error
	if errors.As(err, &execErr) {
		err = execErr.Err
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err
}
