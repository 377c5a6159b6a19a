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

// sqlite is the first bytes of an SQLite database.
const sqlite = "SQLite format 3\x00"

// schemaBytes is how many bytes of a database are searched for definitions of tables. It is the largest page size of
// SQLite.
const schemaBytes = 64 << 10

// created matches the SQL definition of a table. An SQLite database contains it as text.
var created = regexp.MustCompile("(?i)CREATE TABLE (?:IF NOT EXISTS )?[\"'`\\[]?([A-Za-z_][A-Za-z0-9_]*)")

// databases warns about SQLite databases in a folder, because tfexp does not read them. The warnings have commands that
// export the tables as CSV. A database is not mentioned if the folder has all its tables as CSV files.
func databases(dir string) (warnings []string) {
	entries, _ := folder.ReadDir(dir) // reading the tables reports the error
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
			if strings.HasPrefix(m[1], "sqlite_") { // internal tables of SQLite
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
