// Package table writes and reads tables: rows of a Go type as CSV files and JSON
// objects, from one list of columns. Files appear under their names all at
// once, or, where a table can be read while it grows, row by row.
package table
