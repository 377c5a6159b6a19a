package scheduler

import (
	"testing"
	"time"
)

// By cores, what is done is the core time without that of attempts that failed; else it is added up.
func TestAccounts(t *testing.T) {
	const hour = time.Hour
	cores := NewOutlookAccount(Proportional{}, 2)
	if cores.Done(1, 5*hour) != 5*hour || cores.Base(1) != 0 {
		t.Error("a job whose attempts have not failed has done other than its core time")
	}
	cores.Set(1, 2*hour, hour, 5*hour)
	if d := cores.Done(1, 6*hour); d != 3*hour {
		t.Errorf("an hour after it had done two, a job has done %s", d)
	}
	if cores.Base(1) != hour || cores.Base(0) != 0 || cores.Done(0, hour) != hour {
		t.Errorf("the account of another job has changed: %s, %s", cores.Base(1), cores.Base(0))
	}
	other := NewOutlookAccount(SpeedCurves{}, 2)
	other.Add(0, hour)
	other.Add(0, hour)
	if d := other.Done(0, 9*hour); d != 2*hour || other.ByCores() {
		t.Errorf("after two stretches of an hour it has done %s", d)
	}
	if other.Set(0, 3*hour, 0, 9*hour); other.Done(0, 9*hour) != 3*hour {
		t.Error("what a job has done is not what it was set to")
	}
}
