package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/store"
)

func (a *app) doctorCommand() *cobra.Command {
	var (
		out    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "doctor [--out DIR] [--json]",
		Short: "Check that this machine can run experiments",
		Long: `Check what experiments need of this machine: cores and whether jobs can be bound
to them, memory, room on the disk of the results, NVIDIA GPUs and their driver, the CPU
load of other programs; then what each engine needs: whether a Docker daemon answers,
for experiments that run in containers, and whether a killed run left containers there.
Each finding that calls for action comes with a hint.

GPUs are looked for in the driver's own files and through nvidia-smi; a binary of
"make build-nvml" asks NVIDIA's library. Without a driver, experiments that ask for
no gpus run all the same.

Exit status: 0, also with warnings; 6 when something essential is missing.`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := hardware.Checks(out)
			inUse := func(folder string) bool {
				_, held := store.Holder(folder)
				return held
			}
			for _, k := range engine.Kinds() {
				if k.Doctor != nil {
					checks = append(checks, k.Doctor(cmd.Context(), inUse)...)
				}
			}
			failed := false
			for _, c := range checks {
				failed = failed || c.Status == hardware.Fail
			}
			if asJSON {
				if err := a.printJSON(struct {
					OK     bool             `json:"ok"`
					Checks []hardware.Check `json:"checks"`
				}{!failed, checks}); err != nil {
					return err
				}
			} else {
				a.printChecks(checks)
			}
			if failed {
				return silently(exitUnavailable)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", defaultOut, "`DIR` that results will go to")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) printChecks(checks []hardware.Check) {
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	for _, c := range checks {
		mark, ink := "ok  ", green
		switch c.Status {
		case hardware.Warn:
			mark, ink = "warn", yellow
		case hardware.Fail:
			mark, ink = "FAIL", red
		}
		fmt.Fprintf(a.out, "%s  %-*s  %s\n", paint(a.outColor, ink, mark), width, c.Name, c.Text)
		if c.Hint != "" {
			fmt.Fprintf(a.out, "%s%s\n", strings.Repeat(" ", width+8), paint(a.outColor, dim, c.Hint))
		}
	}
}
