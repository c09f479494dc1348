package problem

import (
	"errors"
	"io/fs"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/source"
)

// fleetKinds maps kinds of problems to endings of jobs: Wrong for a problem that may disappear at the server, Lacks for
// something that this worker lacks but another may have, and Useless for a problem that only the user can solve. Any
// other kind is a failure, which is retried soon.
var fleetKinds = map[download.Kind]fleet.Kind{
	download.Refused:      fleet.Wrong,
	download.Mismatch:     fleet.Wrong,
	download.NoEvidence:   fleet.Wrong,
	download.BadSignature: fleet.Wrong,
	download.Auth:         fleet.Lacks,
	download.NoKey:        fleet.Lacks,
	download.Limit:        fleet.Lacks,
	download.Usage:        fleet.Useless,
}

// FleetKind returns the kind of ending of a job that failed with err. The kind decides whether and when the job is
// tried again.
func FleetKind(err error) fleet.Kind {
	if e, ok := errors.AsType[*download.Error](err); ok && e.What == "store" {
		return fleet.Failed // like a failure of the worker's disk: another worker may have other credentials
	}
	if kind, ok := fleetKinds[OfDownload(err).Kind]; ok {
		return kind
	}
	if errors.Is(err, fs.ErrExist) {
		return fleet.Useless
	}
	return fleet.Failed
}

// Missing reports whether a download failed with err because the server does not have the file, or not the required
// proof. after is the time that the server asked to wait, or zero.
func Missing(err error) (after time.Duration, ok bool) {
	e, failed := errors.AsType[*download.Error](err)
	if !failed {
		return 0, false
	}
	s, answered := errors.AsType[*source.Error](err)
	if answered {
		after = s.After
	}
	gone := answered && e.Kind == download.Refused && (s.Status == 404 || s.Status == 410)
	return after, gone || e.Kind == download.NoEvidence
}

// lasting holds the kinds of problems that do not go away with time.
var lasting = map[download.Kind]bool{
	download.Usage: true, download.Auth: true, download.Refused: true, download.NoKey: true, download.BadSignature: true,
	download.NoEvidence: true, download.Limit: true,
}

// Lasting reports whether a problem of kind k remains until the user or the owner of the server acts. A watcher
// requests such a file less often.
func Lasting(k download.Kind) bool { return lasting[k] }
