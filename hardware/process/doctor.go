package process

import (
	"fmt"
	"runtime"

	"github.com/tfexp/tfexp/hardware"
)

func checkBinding() hardware.Check {
	c := hardware.Check{Name: "core binding", Status: hardware.OK}
	if !runsHere {
		c.Status = hardware.Warn
		c.Text = "the engine \"process\" does not run on " + runtime.GOOS + ": experiments can be simulated"
		c.Hint = "to run programs for real, use Linux or macOS, or the Subsystem for Linux"
		return c
	}
	if !hardware.BindsCores {
		c.Status = hardware.Warn
		c.Text = fmt.Sprintf("%s does not bind processes to cores: a job may use more cores than it was given", runtime.GOOS)
		c.Hint = "run experiments whose run times matter on Linux"
		return c
	}
	c.Text = "jobs are bound to their cores (CPUs " + hardware.FormatCPUs(hardware.AllowedCPUs()) + ")"
	return c
}

func checkCleanUp() hardware.Check {
	c := hardware.Check{Name: "clean-up", Status: hardware.OK,
		Text: "when tfexp is killed, a guardian process, from which the jobs descend, kills all of them"}
	switch {
	case !runsHere:
		c.Text = "programs cannot run here, so no process can be left running"
	case missingFeature() != "":
		c.Status, c.Text, c.Hint = hardware.Warn, missingFeature(), "mount it: mount -t proc proc /proc"
	case !canAdopt():
		c.Status, c.Text = hardware.Warn, mayEscape
		c.Hint = "have jobs wait for the programs that they start, or run them on Linux"
	case groupHome() != "":
		c.Text += "; each job is in a control group of its own"
	}
	return c
}

// mayEscape is a note for systems on which the guardian does not know of all processes that jobs leave running.
const mayEscape = "when tfexp is killed, a guardian process kills its jobs; what a job starts may run on if it leaves its " +
	"session and its parent ends: this system does not say from which job such a process comes"
