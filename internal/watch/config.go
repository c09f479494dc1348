package watch

import (
	"time"

	"braid/antenna"
	"braid/internal/option"
)

// Config is the configuration of a watcher: its feeds, its watches and its settings.
type Config struct {
	// State is the folder of the watcher's state. If empty, it is the default folder of the user.
	State string
	// Parallel is the number of concurrent downloads over all watches. If Parallel, Polls or HostGap is zero, the
	// antenna's default applies.
	Parallel, Polls int
	HostGap         time.Duration
	// HostRate limits the requests a second that downloads send to one server; 0 means no limit.
	HostRate int
	// HostLimit limits the bytes a second that downloads receive from one server; 0 means no limit.
	HostLimit int64
	// Rate limits the bytes a second of all downloads together.
	Rate option.RatesValue
	// Lowest is the lowest speed of a download in bytes a second. A download that stays below it for half a minute is
	// stopped and resumed later. If zero, there is no lowest speed.
	Lowest int64
	// Size limits the bytes of one file. If zero, the limit is 64 GiB for files whose size the server does not send.
	Size int64
	// Metrics is the address on which metrics are served. If empty, they are not served.
	Metrics   string
	Log       Log
	UserAgent string
	// Hosts are the internal hosts to which URLs from servers and feeds may lead.
	Hosts []string
	// NotHosts are the hosts that are not used as mirrors. GeoIPDB is the country database for NotHosts.
	NotHosts []string
	GeoIPDB  string

	Feeds   []antenna.Feed
	Watches []Watch
	Publish Publish

	// Secrets are texts that must not be printed. SecretNames are the variables that contain them.
	Secrets     []string
	SecretNames []string
}

// Log configures the watcher's log. The zero value means format text, level info.
type Log struct{ Format, Level string }

// Publish configures where the known updates are published. If Dir is empty, they are not published.
type Publish struct {
	Dir string
	// AgentURL is the public URL of Dir. Title is the title of the page in Dir.
	AgentURL, Title string
}

// Watch is a file, the files of a glob, or the releases of a project, and the settings for updating them.
type Watch struct {
	antenna.Watch
	// Dir is the folder of the files, or To is their location in an object store. File is the template of their names.
	Dir, To string
	File    Template
	// Keep is the number of old versions to keep. If nil, versions are kept only if each has a file name of its own.
	Keep *int
	// Link is the name of a link, beside the files, to the current release. If empty, there is none.
	Link string
	// Run is the program, with its arguments, that is run after a new version. OnFailure is the program that is run
	// after a new failure. Each may take HookTime, or ten minutes if HookTime is zero.
	Run, OnFailure []string
	HookTime       time.Duration
	// Size limits the bytes of one file.
	Size int64
	// AllowOlder allows a file to be replaced by an older one.
	AllowOlder bool
	// Require is none, digest or signature. If empty, it is signature with trusted keys, and digest without them.
	Require Require
	// Priority is the priority in a job queue: high, normal or low. If empty, it is normal.
	Priority Priority
	// Keys are files of trusted keys or certificates, or the text of keys. Keyrings are files of trusted keys, Pins
	// fingerprints, Authorities files of trusted certificates, and Signatures the locations of signatures.
	Keys, Keyrings, Pins, Authorities, Signatures []string
	AllowExpiredKey                               bool
	// Mirrors are further URLs of the same file. FeedMirrors means that the URLs that feeds state are used, too.
	Mirrors     []string
	FeedMirrors bool
	// Rate limits the bytes a second of the watch's downloads.
	Rate option.RatesValue
	// AllowLessProof accepts a file whose server now offers less proof than before.
	AllowLessProof, NoMetalink bool
	// NoLookup looks for no checksum that the server has published beside the file.
	NoLookup bool
}

// Priority determines which jobs start first.
type Priority string

// Require is the proof that is required before a new file replaces the present one.
type Require string

const (
	RequireNothing   Require = "none"
	RequireDigest    Require = "digest"
	RequireSignature Require = "signature"
)
