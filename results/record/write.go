package record

import (
	"path/filepath"

	"github.com/tfexp/tfexp/results/table"
)

// WriteComparisons writes comparisons.csv.
func WriteComparisons(dir string, rows []ComparisonRow) error {
	return table.Write(filepath.Join(dir, ComparisonsFile), comparisonColumns, rows)
}

// WriteFidelity writes fidelity.csv; it removes the file when there are no rows.
func WriteFidelity(dir string, rows []FidelityRow) error {
	return table.WriteOrRemove(filepath.Join(dir, FidelityFile), fidelityColumns, rows)
}

// WriteFidelityJobs writes fidelity_jobs.csv; a nil table removes the file.
func WriteFidelityJobs(dir string, rows []FidelityJobRow) error {
	if rows == nil {
		return table.WriteOrRemove(filepath.Join(dir, FidelityJobsFile), fidelityJobColumns, rows)
	}
	return table.Write(filepath.Join(dir, FidelityJobsFile), fidelityJobColumns, rows)
}

// WriteFidelityDecisions writes fidelity_decisions.csv; it removes the file when there are no rows.
func WriteFidelityDecisions(dir string, rows []FidelityDecisionRow) error {
	return table.WriteOrRemove(filepath.Join(dir, FidelityDecisionsFile), fidelityDecisionColumns, rows)
}

// WriteAccuracy writes accuracy.csv; it removes the file when there are no rows.
func WriteAccuracy(dir string, rows []AccuracyRow) error {
	return table.WriteOrRemove(filepath.Join(dir, AccuracyFile), accuracyColumns, rows)
}

// WriteProfiling writes profiling.csv; it removes the file when there are no rows.
func WriteProfiling(dir string, rows []ProfilingRow) error {
	return table.WriteOrRemove(filepath.Join(dir, ProfilingFile), profilingColumns, rows)
}
