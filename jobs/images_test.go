//go:build unix

package jobs_test

import (
	"bytes"
	"errors"
	"os/exec"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/jobs/contract"
)

// TestImages trains in the images that build-image.sh makes: without a network,
// as a user that they do not know.
func TestImages(t *testing.T) {
	_, err := exec.LookPath("docker")
	if err == nil {
		err = exec.CommandContext(t.Context(), "docker", "version").Run()
	}
	need.This(t, "docker", err, "install Docker and start its daemon")
	for _, name := range []string{"tensorflow", "pytorch"} {
		t.Run(name, func(t *testing.T) {
			image := "tfexp/" + name + ":latest"
			if err := exec.CommandContext(t.Context(), "docker", "image", "inspect", image).Run(); err != nil {
				need.This(t, "images", errors.New("there is no image "+image), "sudo jobs/build-image.sh "+name)
			}
			cmd := exec.CommandContext(t.Context(), "docker", "run", "--rm", "--network", "none", "--user", "4321:4321",
				"--cap-drop", "ALL",
				"--env", contract.EnvEpochs+"=2", image, "./run.sh", "--cpu", "--numThreads", "2")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s%s", err, &out, &errs)
			}
			r, err := contract.Parse(&out, contract.Last)
			if err != nil || len(r.Warnings) > 0 || len(r.Epochs) != 2 || r.Progress.Epoch != 2 || r.Progress.Threads != 2 {
				t.Errorf("%+v, %v; stderr %s", r, err, &errs)
			}
		})
	}
}
