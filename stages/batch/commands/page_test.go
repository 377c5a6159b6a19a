package commands

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	_ "github.com/tfexp/tfexp/scheduler/workload/formats/clusters" // swf
)

// writePart writes a file of the script that tests the command into a folder.
func writePart(t *testing.T, dir, name string) string {
	t.Helper()
	script, err := os.ReadFile("../../../cmd/tfexp/testdata/script/when.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(script), "\n-- "+name+" --\n")
	text, _, _ := strings.Cut(after, "\n-- ")
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestStartsPage serves the forecasts for a controller: a program that prints a running job, which has run for 100 of
// its 600 s, and one that waits for it. Jobs of the log take half of the requested time.
func TestStartsPage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the controller is a shell script")
	}
	dir, bin := t.TempDir(), t.TempDir()
	write := func(path, text string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := writePart(t, dir, "log.hcl")
	writePart(t, dir, "log.swf")
	t.Setenv("PATH", bin+":/bin:/usr/bin")
	page, err := newPage(t.Context(), command.New(io.Discard, io.Discard), file)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(page)
	defer server.Close()
	get := func() string {
		r, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page.busy = true
	if text := get(); !strings.Contains(text, "The first forecasts are being computed.") {
		t.Error(text)
	}
	job := `echo "JobId=%d UserId=ada(5) JobState=%s TimeLimit=00:10:00 SubmitTime=%s StartTime=%s NumNodes=1 NumCPUs=4"
`
	since := time.Now().Add(-100 * time.Second).Format("2006-01-02T15:04:05")
	runs := fmt.Sprintf(job, 21, "RUNNING RunTime=00:01:40", since, since)
	for _, test := range []struct{ controller, want string }{
		{runs + fmt.Sprintf(job, 22, "PENDING Reason=Resources", since, "Unknown"), `(?m)^22 +ada +4 +3 min [12]\d s +`},
		{runs, "no job waits"},
		{runs + fmt.Sprintf(job, 23, "PENDING Reason=JobHeldUser", since, "Unknown"), `(?m)^23 +ada +4 +JobHeldUser`},
		{runs + fmt.Sprintf(job, 24, "PENDING Reason=Resources", since, "Unknown") + fmt.Sprintf(job, 23, "PENDING Reason=PartitionDown", since, "Unknown"),
			`(?s)24 +ada +4 +.*23 +ada +4 +PartitionDown`},
		{"echo 'Unable to contact slurm controller' >&2; exit 1", "Unable to contact slurm controller"},
	} {
		write(filepath.Join(bin, "scontrol"), "#!/bin/sh\n"+test.controller)
		page.update()
		page.at = time.Now() // no other forecast is made meanwhile
		if text := get(); !regexp.MustCompile(test.want).MatchString(text) {
			t.Errorf("the page does not have %s:\n%s", test.want, text)
		}
	}
}
