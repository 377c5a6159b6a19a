package slurm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// Each line is a row, quotes are characters, and lines that are lost are counted.
func TestEachRow(t *testing.T) {
	for _, c := range []struct{ text, want, wrong string }{
		{"a|b\n1|\"x\n2|\"y\"\n", `2:[1 "x] 3:[2 "y"]`, ""},
		{"a|JobName|b\n1|x|y|2\n3|z|4|\n", "2:[1 x|y 2] 3:[3 z 4]", ""},
		{"a|Comment|b\n1|x\ny|2\n5|z|6\n", "2:[1 x\ny 2] 4:[5 z 6]", ""},
		{"a|Comment|b\n1|x\n\nw\ny|2\n5|z|6\n", "2:[1 x\nw\ny 2] 6:[5 z 6]", ""},
		{"a|Comment|b\n1|x\n7|forged|8\ny|2\n5|z|6\n", "", "f:2: the row has 2 fields instead of 3\n" +
			"f:3: it follows a line with too few fields, and may be the rest of its Comment: print the table without this column\n" +
			"f:4: the row has 2 fields instead of 3\n" +
			"f:5: it follows a line with too few fields, and may be the rest of its Comment: print the table without this column"},
		{"a|Comment|b\n1\n|x|2\n5|z|6\n", "4:[5 z 6]", "f:2: the row has 1 fields instead of 3\n" +
			"f:3: it follows a line with too few fields, and may be the rest of its Comment: print the table without this column"},
		{"a|b|c\n1|x\n5|z|6\n", "3:[5 z 6]", "f:2: the row has 2 fields instead of 3"},
		{"a|Comment|b\n5|z|6\n1|x\n", "2:[5 z 6]", "f:3: the row has 2 fields instead of 3"},
		{"JobName|Comment\n1|2|3\n", "", "f:2: the row has 3 fields instead of 2, perhaps because JobName or Comment contains a separator: " +
			"print the table without one of these columns"},
		{"a|Constraints|Reservation\n1|x|y|\n2|x|y|z|\n3|x|\n4||r\n5||\n", "2:[1 x|y ] 3:[2 x|y|z ] 4:[3 x ] 5:[4  r] 6:[5  ]", ""},
		{"a|Constraints|Reservation|\n1|x|r|\n2|x|y|r|\n3|||\n", "2:[1 x r] 3:[2 x|y r] 4:[3  ]", ""},
		{"a|Constraints|Reservation\n1|x||\n3|||\n", "2:[1 x ] 3:[3  ]", ""},
		{"a|REASON|NAME\n1|x|y|z\n2|x|y\n", "2:[1 x y|z] 3:[2 x y]", ""},
		{"a|REASON|b\n1|x|y|z\n", "2:[1 x|y z]", ""},
		{"a|b|Comment\n1|2|x\ny\nz\n3|4|w\n5|6\n", "2:[1 2 x] 5:[3 4 w]", "f:6: the row has 2 fields instead of 3"},
		{"a|b|Comment\nx\n1|2|x\n", "", "f:2: the row has 1 fields instead of 3\n" +
			"f:3: it follows a line with too few fields, and may be the rest of its Comment: print the table without this column"},
		{"NAME|COMMENT|c\nx\n5|z|6\n7|8|9\n", "4:[7 8 9]", "f:2: the row has 1 fields instead of 3\n" +
			"f:3: it follows a line with too few fields, and may be the rest of its NAME: print the table without this column"},
		{"", "", "f:1: the file is empty"},
	} {
		var got []string
		skipped, err := EachRow(textfile.Table{Separator: '|'}, "f", strings.NewReader(c.text), true,
			func([]string) error { return nil }, func(line int, fields []string) error {
				got = append(got, fmt.Sprint(line, ":", fields))
				return nil
			})
		var wrong []string
		for _, e := range append(skipped, err) {
			if e != nil {
				wrong = append(wrong, e.Error())
			}
		}
		if strings.Join(got, " ") != c.want || strings.Join(wrong, "\n") != c.wrong {
			t.Errorf("%q: %q, %q; want %q, %q", c.text, got, wrong, c.want, c.wrong)
		}
	}
}
