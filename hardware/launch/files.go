package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

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

// WriteControl writes to the control file of a job, if it has one, that it has n cores now. The file is replaced as a
// whole; it is not synced, since it means nothing once the job is dead.
func (j *Job) WriteControl(n int) error {
	if j.ControlPath == "" {
		return nil
	}
	return j.replaceControl(j.Control(n))
}

// Ask writes a request to the control file of a job that has n cores, if it has one.
func (j *Job) Ask(n int, request contract.Message) error {
	if j.ControlPath == "" {
		return nil
	}
	request.Inter, request.Intra = j.Pools(n)
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	return j.replaceControl(append(text, '\n'))
}

func (j *Job) replaceControl(content []byte) error {
	if err := os.MkdirAll(filepath.Dir(j.ControlPath), 0o777); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	next := j.ControlPath + ".new"
	if err := os.WriteFile(next, content, 0o666); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	if err := os.Rename(next, j.ControlPath); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	return nil
}

// Prepare makes what a job that is given n cores finds when it starts: its control file and its checkpoint folder.
func (j *Job) Prepare(n int) error {
	if err := j.WriteControl(n); err != nil {
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
