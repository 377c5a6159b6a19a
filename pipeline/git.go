package pipeline

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// gitDescribe names the commit of the folder that a file is in, with a mark
// when it has uncommitted changes; empty when that is not known.
func gitDescribe(file string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "-C", filepath.Dir(file), "describe", "--always", "--dirty",
		"--abbrev=12").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
