//go:build !nofleet

// Package jetstream gives access to the fleet's queue in JetStream. With the tag nofleet it has the same names, but its
// queues cannot be opened.
package jetstream

import (
	"context"
	"log/slog"

	"braid/fleet/jetstream"
)

// In reports whether this program has the queue.
const In = true

// The types of the queue.
type (
	Queue         = jetstream.Queue
	Options       = jetstream.Options
	Claim         = jetstream.Claim
	Pacer         = jetstream.Pacer
	Lead          = jetstream.Lead
	Leader        = jetstream.Leader
	Host          = jetstream.Host
	Socket        = jetstream.Socket
	InsecureError = jetstream.InsecureError
	LargeError    = jetstream.LargeError
	Destination   = jetstream.Destination

	DestinationError = jetstream.DestinationError
	NewerError       = jetstream.NewerError
)

// Open connects to a queue.
func Open(ctx context.Context, o Options) (*Queue, error) { return jetstream.Open(ctx, o) }

// NewHost starts or joins the server of the folder dir.
func NewHost(dir string, s Socket, log *slog.Logger) (*Host, error) {
	return jetstream.NewHost(dir, s, log)
}

// HasQueue reports whether the folder dir has a queue.
func HasQueue(dir string) bool { return jetstream.HasQueue(dir) }

// CheckURL returns an error if list is not the URL of a queue, or a list of its URLs.
func CheckURL(list string) error { return jetstream.CheckURL(list) }

// Refused reports whether an error means that the server refused the credentials.
func Refused(err error) bool { return jetstream.Refused(err) }

// Untrusted reports whether an error means that the server's certificate is not trusted.
func Untrusted(err error) bool { return jetstream.Untrusted(err) }

// Missing reports whether an error means that the queue does not exist.
func Missing(err error) bool { return jetstream.Missing(err) }

// Lacking reports whether an error means that the server does not have JetStream.
func Lacking(err error) bool { return jetstream.Lacking(err) }

// Newer reports whether an error means that a newer braid has written values.
func Newer(err error) bool { return jetstream.Newer(err) }
