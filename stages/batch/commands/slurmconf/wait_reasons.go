package slurmconf

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/stages/batch/forecast"
)

// startless returns the reason that no start can be predicted for a waiting job; empty if a start can be predicted.
func startless(reason, priority, dependency string) string {
	_, limited := modeledLimits[reason]
	switch plain := strings.ReplaceAll(reason, "_", " "); {
	case strings.HasSuffix(plain, "held") || strings.HasPrefix(reason, "JobHeld"):
		return reason
	case priority != "" && strings.Trim(priority, "0.") == "":
		return "held (the priority is 0)"
	case strings.Contains(dependency, "singleton"):
		return "the dependency singleton"
	case strings.Contains(dependency, "?"):
		return "a dependency on one of several jobs"
	case strings.Contains(dependency, "(failed)"):
		return "DependencyNeverSatisfied"
	case plain == "Dependency" && dependency == "":
		return "Dependency (the queue does not say on what)"
	case limited || slices.Contains(predictable, plain):
		return ""
	default:
		return reason
	}
}

// predictable lists the reasons for waiting that a twin models.
var predictable = []string{"", "Priority", "Resources", "BeginTime", "Dependency", "JobArrayTaskLimit", "Reservation",
	"WaitingForScheduling", "Scheduling", "Prolog", "Cleaning", "SchedDefer"}

// modeledLimits has the limits of associations and qualities of service that a twin models, by the reason that Slurm
// prints. Limits on a single job are missing: such a job can never start.
var modeledLimits = func() map[string]forecast.Limit {
	all := map[string]forecast.Limit{}
	for _, l := range [][3]string{
		{"AssocGrpCpuLimit", "account", "group_cores"}, {"AssocGrpNodeLimit", "account", "group_nodes"},
		{"AssocGrpGRES", "account", "group_gpus"}, {"AssocGrpJobsLimit", "account", "group_jobs"},
		{"AssocGrpSubmitJobsLimit", "account", "group_submit"}, {"AssocMaxJobsLimit", "account", "max_jobs"},
		{"AssocMaxSubmitJobLimit", "account", "max_submit"},
		{"QOSGrpCpuLimit", "qos", "group_cores"}, {"QOSGrpNodeLimit", "qos", "group_nodes"},
		{"QOSGrpGRES", "qos", "group_gpus"},
		{"QOSGrpJobsLimit", "qos", "group_jobs"}, {"QOSGrpSubmitJobsLimit", "qos", "group_submit"},
		{"QOSMaxJobsPerUserLimit", "qos", "max_jobs"}, {"QOSMaxSubmitJobPerUserLimit", "qos", "max_submit"},
		{"QOSMaxCpuPerUserLimit", "qos", "max_cores_per_user"},
	} {
		all[l[0]] = forecast.Limit{Reason: l[0], Block: l[1], Arg: l[2]}
	}
	return all
}()
