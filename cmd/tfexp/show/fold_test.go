package show

import (
	"bytes"
	"fmt"
	"testing"
)

func TestFolding(t *testing.T) {
	var out bytes.Buffer
	f := &folding{to: &out, columns: 30}
	fmt.Fprint(f, "policy  mean JCT (s)  makespan\n") // of 30 columns
	fmt.Fprint(f, Bold+"policy"+"\x1b[0m  mean JCT (s)  makespan\n")
	fmt.Fprint(f, "rr cut mean waiting time ")
	fmt.Fprint(f, "by 61% against fcfs, from 3.92 s to 1.54 s\n")
	want := "policy  mean JCT (s)  makespan\n" + Bold + "policy" + "\x1b[0m  mean JCT (s)  makespan\n" +
		"rr cut mean waiting time\n    by 61% against fcfs, from\n    3.92 s to 1.54 s\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
