package watch

import (
	"time"

	"braid/antenna"
	"braid/internal/option"
)

// A Config is what a watcher is to do: feeds, watches, and how it runs.
type Config struct {
	// State is the folder for what is remembered. If empty, it is the user's.
	State string
	// Parallel is how many downloads run at once, over all watches; 0 is the antenna's default, as of Polls and HostGap.
	Parallel, Polls int
	HostGap         time.Duration
	// HostRate is how many requests a second a server gets from downloads; 0 is no limit.
	HostRate int
	// HostLimit is how many bytes a second a server may send downloads; 0 is no limit.
	HostLimit int64
	// Rate limits the bytes of all downloads a second.
	Rate option.RatesValue
	// Lowest is how many bytes a second a download has to bring: one that brings less for half a minute comes again
	// later, from where it was. If zero, it may be as slow as its sources are.
	Lowest int64
	// Size limits the bytes of one file; if zero, it is 64 GiB where a server does not say.
	Size int64
	// Metrics is the address where metrics are served. If empty, they are not.
	Metrics   string
	Log       Log
	UserAgent string
	// Hosts are those that servers and feeds may name though they are internal.
	Hosts []string
	// NotHosts are those that no mirror is used at, and GeoIPDB the database of countries for that.
	NotHosts []string
	GeoIPDB  string

	Feeds   []antenna.Feed
	Watches []Watch
	Publish Publish

	// Secrets are texts that must not be seen, and SecretNames the variables that they came from.
	Secrets     []string
	SecretNames []string
}

// A Log says how a watcher tells of itself. The zero value is text of level info.
type Log struct{ Format, Level string }

// A Publish says where what is known is published. Nothing is if Dir is empty.
type Publish struct {
	Dir string
	// AgentURL is where Dir is seen by others, and Title what its page is called.
	AgentURL, Title string
}

// A Watch is a file, or the files of a glob, and what is to be done with them.
type Watch struct {
	antenna.Watch
	// Dir is the folder, or To the place in an object store, and File what the files are called in it.
	Dir, To string
	File    Template
	// Keep is how many old versions are kept.
	Keep int
	// Run is run when there is a new version, and OnFailure when there is a new failure: a program and its arguments. It may
	// take HookTime, or ten minutes if that is zero.
	Run, OnFailure []string
	HookTime       time.Duration
	// Size limits one file.
	Size int64
	// AllowOlder takes a file that is older than the one that is there.
	AllowOlder bool
	// Require is none, digest or signature; empty is digest, and signature if there are trusted keys.
	Require Require
	// Priority is high, normal or low, among the jobs of a queue; empty is normal.
	Priority Priority
	// Keyrings, Pins and Authorities are the trusted keys (files, fingerprints), Signatures where signatures are.
	Keyrings, Pins, Authorities, Signatures []string
	AllowExpiredKey                         bool
	// Mirrors are further places of the same file.
	Mirrors []string
	// Rate limits the bytes of the watch's downloads a second.
	Rate option.RatesValue
	// AllowLessProof takes a file whose server offers less to verify it with than before.
	AllowLessProof, NoMetalink bool
}

// A Priority says what is begun first.
type Priority string

// A Require says what must be proven before a file takes the place of the one before.
type Require string

const (
	RequireNothing   Require = "none"
	RequireDigest    Require = "digest"
	RequireSignature Require = "signature"
)
