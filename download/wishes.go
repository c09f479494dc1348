package download

import (
	"context"
	"net/url"
	"time"

	"braid/address"
	"braid/download/limit"
	"braid/download/state"
	"braid/verify"
)

// IfExists states what happens if the file, or a part of it, exists already. The zero value resumes a part file of the
// same version, accepts an existing file that is the right file, and replaces no file.
type IfExists struct {
	// Overwrite replaces an existing file of that name once the new file is verified.
	Overwrite bool
	// Rename gives the file the next free name, such as disk.1.iso for disk.iso, if a file of its name exists
	// or another download uses that name. Overwrite takes precedence.
	Rename bool
	// Continue resumes a file for which the server gives neither a digest nor a strong validator, if the same server
	// states the same size and date, and samples of the existing bytes are the same when fetched again. An existing
	// file of that name that is not longer than the server's is resumed in the same way. Continue has no effect if
	// Require demands a proof, because samples prove nothing.
	Continue bool
	// Refresh resumes the part file of Name, whatever URL its bytes came from, for example with a new link to the file.
	// It does so if part file and link have the same strong digest, if the same host states the same size and strong
	// ETag, or, with Continue, if size and samples are the same. The error is that there is no part file, or that
	// nothing shows that it is of this file; the part file then does not change.
	Refresh bool
	// IfNewer replaces an existing file of that name if the server has another file that is not older. AllowOlder also
	// allows an older file. See Result.NotModified. The known version of the existing file (Known, or else in
	// Client.State) makes the request conditional. An existing file that is kept must be proven as Require demands.
	IfNewer, AllowOlder bool
	// Known, if not nil, is the version that the caller has. Its ETag and date make the request conditional; see
	// Result.NotModified. With IfNewer, only answers of Known.Host are compared with Known, or the answers of every
	// host if Known.Host is empty. With IfNewer and Known.Digest, the existing file counts only if it has that digest,
	// and a nonzero Known.Over states that the file was proven.
	Known *state.Version
	// NoVersions means that versions in Client.State are neither read nor written, because the caller keeps versions.
	NoVersions bool
}

// Trust has evidence for the file, in addition to that of servers, and states how much evidence is demanded.
type Trust struct {
	// Claims are digests from the user, or from a document or list that the user named. A claim without a
	// Channel counts as the user's.
	Claims []verify.Claim
	// Anchors are the keys and certificates that may sign the file. Signatures are the signatures that the user names
	// or a document has, in addition to those that the server names.
	Anchors    Anchors
	Signatures []Signature
	// LessProof accepts less evidence than the URL offered before (Client.State).
	LessProof bool
	// Require is the demanded proof.
	Require Require
	// Lookup looks for digests that the asked server has published beside the file, in lists of checksums, if neither
	// Claims nor the server's answers have a strong digest. The lookup runs during the transfer. The end of the
	// download waits for it, but at most 5 s if Require demands nothing. The file must match the found digests
	// (Result.Looked). It is no error if no digest is found.
	Lookup bool
}

// Access states which servers may be asked for the file, and what is sent to them.
type Access struct {
	// Not lists hosts to which no connection is made for this file. Mirrors on these hosts are not used. It is an error
	// if URL or Mirrors names such a host.
	Not *address.Exclusion
	// NoFTP means that FTP servers are not used.
	NoFTP bool
	// Header is added to requests to the origin. Other servers get only Accept, Accept-Charset, Accept-Language and
	// User-Agent. Servers in HeaderTo get all fields except Host and Referer. See httpsource.Options.
	Header   map[string][]string
	HeaderTo []string
	// NoReferer stops sending the original URL to mirrors in Referer.
	NoReferer bool
	// User is the name and password for the origin.
	User *url.Userinfo
}

// Near selects mirrors that are tried first.
type Near struct {
	// Locations are the countries of the mirrors to try first, as two capital letters (ISO 3166-1). Servers
	// and documents state the countries of their mirrors.
	Locations []string
	// Country, if not nil, returns the country of the server of a URL, or "" if it is unknown; see Locations. It is
	// called for mirrors whose country the server or document does not state, by several goroutines at once. All calls
	// together may take one second.
	Country func(ctx context.Context, u *url.URL) string
}

// Seed states how long the client offers the file to peers once it is in place. The zero value does not offer it.
type Seed struct {
	// The client seeds until peers got Ratio times the size of the file, or until Time has passed, whichever is first.
	// A zero Ratio or Time is no limit. If both are zero, the client does not seed.
	Ratio float64
	Time  time.Duration
}

// Limits bounds the speed and the size of one download. With the zero value, only the limits of the Client apply.
type Limits struct {
	// Lowest, if not nil, returns the current minimum speed of this download, in place of Client.LowestSpeed.
	Lowest func() int64
	// Rate, if not nil, limits this download to a number of bytes a second, in place of Client.Limit.
	Rate *limit.Limiter
	// MaxSize limits the size of the file, in addition to Client.MaxSize. If zero, only Client.MaxSize applies.
	MaxSize int64
}
