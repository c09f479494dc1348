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

// IfExists states what happens if the file, or a part of it, exists already, and by which version of it the caller
// knows that the server has a newer one. The zero value resumes a part file of the same version, takes an existing
// file that is the right one, and replaces none.
type IfExists struct {
	// Overwrite replaces an existing file of that name once the new one is verified.
	Overwrite bool
	// Rename gives the file the next free name, such as disk.1.iso for disk.iso, if a file of its name exists
	// or another download uses that name. Overwrite takes precedence.
	Rename bool
	// Continue resumes a file for which the server gives neither a digest nor a strong validator, if the same
	// server states the same size and date, and samples of the existing bytes are the same when fetched
	// again. An existing file of that name that is not longer than the server's is resumed in the same way.
	// This rests on the user's word alone and has no effect if Require demands more.
	Continue bool
	// Refresh resumes the part file of Name from any URL, for use with a new link to the file. It does so if
	// URL offers a strong digest that is known of the file, if the same host states the same size and strong
	// ETag, or, with Continue, if size and samples are the same. It is an error if there is no part file, or
	// nothing shows that it belongs to this file; the part file then does not change.
	Refresh bool
	// IfNewer replaces an existing file of that name if the server has another one; an older one also needs
	// AllowOlder. See Result.NotModified. The known version of the existing file (Known, else Client.State)
	// makes the request conditional. A file that is kept must also be proven as Require demands.
	IfNewer, AllowOlder bool
	// Known, if not nil, is the version that the caller has. Its ETag and date make the request conditional;
	// see Result.NotModified. With IfNewer, the answer of a host other than Known.Host is not compared with
	// it; if Known.Host is empty, every host's is. With IfNewer and Known.Digest, the existing file counts
	// only if it has that digest, and a nonzero Known.Over states that it was proven.
	Known *state.Version
	// NoVersions neither reads nor writes the version in Client.State: the caller keeps versions.
	NoVersions bool
}

// Trust states what shows that the file is the right one, in addition to what servers state, and how much of it is
// demanded.
type Trust struct {
	// Claims are digests from the user, or from a document or list that the user named. A claim without a
	// Channel counts as the user's.
	Claims []verify.Claim
	// Anchors are the keys and certificates that may sign the file. Signatures are given by the user or a
	// document, in addition to those that the server describes.
	Anchors    Anchors
	Signatures []Signature
	// LessProof accepts less evidence than the URL offered before (Client.State).
	LessProof bool
	// Require is the demanded proof.
	Require Require
	// Lookup looks for digests that the asked server has published in lists of checksums beside the file, where neither
	// Claims nor its answers have a strong one. It runs beside the transfer, and the end waits for it for 5 s at most
	// unless Require demands something. What it finds must hold (Result.Looked); what it does not find is no error.
	Lookup bool
}

// Access states which servers may be asked for the file, and what is sent to them.
type Access struct {
	// Not lists hosts that are never connected to for this file. Their mirrors are left out. It is an error
	// if URL or Mirrors names one of them.
	Not *address.Exclusion
	// NoFTP leaves FTP servers out.
	NoFTP bool
	// Header is added to requests to the origin. Other servers get its Accept, Accept-Charset,
	// Accept-Language and User-Agent; those in HeaderTo get all of it. See httpsource.Options.
	Header   map[string][]string
	HeaderTo []string
	// NoReferer stops sending the original URL to mirrors in Referer.
	NoReferer bool
	// User is the name and password for the origin.
	User *url.Userinfo
}

// Near states which mirrors are near, and are tried first.
type Near struct {
	// Locations are the countries of the mirrors to try first, as two capital letters (ISO 3166-1). Servers
	// and documents state the countries of their mirrors.
	Locations []string
	// Country, if not nil, returns the country of the server of a URL, or "" if it is unknown; see Locations.
	// It is called for mirrors without a country from the server or a document, by several goroutines at
	// once, and has one second for all of them.
	Country func(ctx context.Context, u *url.URL) string
}

// Seed states how long the client offers the file to peers once it is in place. The zero value does not offer it.
type Seed struct {
	// Ratio and Time make the client seed the file once it is in place, until peers got Ratio
	// times its size or Time has passed, whichever is first. If both are zero, it does not seed.
	Ratio float64
	Time  time.Duration
}

// Limits bounds the speed and the size of one download. The zero value leaves it to the Client.
type Limits struct {
	// Lowest, if not nil, returns the current least speed of this download, in place of Client.LowestSpeed.
	Lowest func() int64
	// Rate, if not nil, limits this download to a number of bytes a second, in place of Client.Limit.
	Rate *limit.Limiter
	// MaxSize limits the size of the file, in addition to Client.MaxSize. If zero, only that one applies.
	MaxSize int64
}
