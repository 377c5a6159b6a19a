package imports

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
)

// sqlite is the beginning of a database of SQLite.
const sqlite = "SQLite format 3\x00"

// schemaBytes bounds the beginning of a database in which its tables are looked for: the largest page.
const schemaBytes = 64 << 10

// created matches the definition of a table, which a database of SQLite holds as text.
var created = regexp.MustCompile("(?i)CREATE TABLE (?:IF NOT EXISTS )?[\"'`\\[]?([A-Za-z_][A-Za-z0-9_]*)")

// databases names the files of a folder that are databases of SQLite, whose tables are not read, with the commands that
// write these as CSV. A database is not named if its folder has all its tables as CSV.
func databases(dir string) (warnings []string) {
	entries, _ := folder.ReadDir(dir) // an error shows in the tables
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		head, err := beginning(path)
		if err != nil || !strings.HasPrefix(head, sqlite) {
			continue
		}
		write := func(table string) string {
			return fmt.Sprintf("sqlite3 -header -csv '%s' 'select * from %s' > '%s'", path, table, filepath.Join(dir, table+".csv"))
		}
		var commands []string
		tables := 0
		for _, m := range created.FindAllStringSubmatch(head, -1) {
			if strings.HasPrefix(m[1], "sqlite_") { // its own
				continue
			}
			tables++
			beside := func(o os.DirEntry) bool { return o.Name() == m[1]+".csv" }
			if !slices.ContainsFunc(entries, beside) {
				commands = append(commands, write(m[1]))
			}
		}
		switch {
		case len(commands) > 0:
			warnings = append(warnings, fmt.Sprintf("%s is a database of SQLite, which is not read: write its tables as CSV, with %s", path,
				strings.Join(commands, " and ")))
		case tables == 0:
			warnings = append(warnings, fmt.Sprintf("%s is a database of SQLite, which is not read: write each of its tables as CSV, with %s "+
				"(sqlite3 '%s' .tables lists them)", path, write("TABLE"), path))
		}
	}
	return warnings
}

// beginning reads the beginning of a file.
func beginning(path string) (string, error) {
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, schemaBytes)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(head[:n]), err
}
