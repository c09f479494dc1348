package worlds

import (
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/partfile"
	"braid/verify"
)

// A recorded is what a watch records of a file that it has brought (internal/watch).
type recorded struct {
	version state.Version
	changed time.Time // date of the file
	proven  bool
}

// turn makes a request that of a watch's turn: as -N, against the version that the watch has recorded if the file in
// place is that one. A file that was proven must be proven again.
func (u *user) turn(q *download.Request) {
	q.Name, q.IfExists.IfNewer, q.IfExists.NoVersions, q.IfExists.AllowOlder = fileName, true, true, u.cmd.Older
	info, there, err := partfile.Target(u.files, folder, fileName)
	if err != nil || !there {
		return
	}
	last := u.watched
	if last.version.Size == info.Size && last.changed.Equal(info.ModTime) {
		known := last.version
		q.IfExists.Known = &known
	}
	if last.proven && q.Trust.Require == download.RequireNothing && !q.Trust.LessProof {
		q.Trust.Require, u.c.Require = download.RequireDigest, "digest"
	}
}

// record keeps what came of a turn that succeeded.
func (u *user) record(r download.Result) {
	last := &u.watched
	switch {
	case r.Older:
		return
	case r.NotModified:
		last.proven = last.proven || r.Proof.Verified()
		return
	}
	last.version = state.Version{ETag: r.ETag, LastModified: r.LastModified, Host: r.Host, Size: r.Size}
	if last.proven = r.Proof.Verified(); last.proven {
		last.version.Over = verify.HTTP // the weakest channel: it was at least this
	}
	for _, d := range r.Proof.Digests() {
		if d.Algorithm() == verify.SHA256 {
			last.version.Digest = d
		}
	}
	if info, there, err := partfile.Target(u.files, folder, fileName); err == nil && there {
		last.changed = info.ModTime
	}
}
