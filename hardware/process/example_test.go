package process_test

import (
	"context"
	"fmt"

	"github.com/tfexp/tfexp/hardware/process"
)

func ExampleRun() {
	job := process.Job{Name: "sample", Argv: []string{"sh", "-c", "exit 3"}}
	end, usage, err := process.Run(context.Background(), job, process.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(end.State, end.Reason, usage.ExitCode)
	// Output: failed exit status 3 3
}
