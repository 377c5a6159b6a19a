package slurm

import (
	"errors"
	"strings"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
)

// advice pairs a part of a Slurm error message with a remedy.
var advice = []struct{ part, hint string }{
	{"partition name", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"invalid partition", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"default partition", `"sinfo" lists the partitions; name one with partition = "…" or --sbatch partition=…`},
	{"submit limit",
		`wait until some of your jobs have ended ("squeue --me"), or let more cells share a task with --batch`},
	{"accounting/qos policy",
		`wait until some of your jobs have ended ("squeue --me"), or let more cells share a task with --batch`},
	{"account",
		`"sacctmgr show associations user=$USER" lists your accounts; name one with account = "…" or --sbatch account=…`},
	{"qos specification", `"sacctmgr show qos" lists the qualities of service; set qos = "…" or --sbatch qos=…`},
	{"feature specification", `"sinfo -o %f" lists the features of nodes; change constraint`},
	{"generic resource", `"sinfo -o %G" lists the generic resources of nodes; change gres or gpus`},
	{"node configuration", `request fewer nodes or cores ("sinfo -o '%P %D %c %m %G'" lists what the partitions have)`},
	{"node count", `request fewer nodes ("sinfo -o '%P %D'" lists how many the partitions have)`},
	{"more processors", `request fewer threads ("sinfo -o '%P %c'" lists the cores of nodes)`},
	{"time limit", `request less time ("sinfo -o '%P %l'" lists the limits of the partitions)`},
	{"temporarily unavailable",
		`the queue of the cluster is full ("scontrol show config" has MaxJobCount): try again later, or let ` +
			`more cells share a task with --batch`},
	{"unable to accept job",
		`the queue of the cluster is full: try again later, or let more cells share a task with --batch`},
	{"job array specification", `let more cells share a task with --batch`},
	{"unable to contact", "see whether the controller runs (\"scontrol ping\"), or ask the administrator of the cluster"},
	{"configuration source", "set SLURM_CONF to the cluster's slurm.conf, or start tfexp on a machine of the cluster"},
	{"clustername needs", "set SLURM_CONF to the cluster's slurm.conf"},
	{"s_p_parse_file", "set SLURM_CONF to the cluster's slurm.conf"},
	{"did not answer", "see whether the controller runs (\"scontrol ping\"), or ask the administrator of the cluster"},
}

// Hint suggests a remedy for an error. Errors without a known remedy get a general one.
func Hint(err error) string {
	text := strings.ToLower(err.Error())
	for _, a := range advice {
		if strings.Contains(text, a.part) {
			return a.hint
		}
	}
	return `run "tfexp doctor" to check the cluster`
}

// UnavailableError returns an error that says that the cluster is unavailable because of err, with a hint.
func UnavailableError(err error, hint string) error {
	return &engine.Unavailable{Engine: EngineName, Err: err, Hint: hint}
}

// WithHint adds a remedy to an error of the cluster. It returns nil for nil.
func WithHint(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*engine.Unavailable)):
		return err
	case errors.Is(err, ErrNotShared):
		return UnavailableError(err, SharedFolderHint)
	case slurmcmd.Missing() != nil:
		return UnavailableError(err, slurmcmd.MissingHint)
	}
	return UnavailableError(err, Hint(err))
}
