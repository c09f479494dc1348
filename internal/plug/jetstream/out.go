//go:build nofleet

// Package jetstream replaces the fleet's queue in a program that is built without it. Its queues cannot be opened, so
// their methods are never called.
package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"time"

	"braid/fleet"
	"braid/internal/problem"
)

// In reports whether this program has the queue.
const In = false

// ErrOut is the error of Open and NewHost.
var ErrOut = errors.New(problem.NoFleet)

// Options has the fields of the real type. Nothing reads them.
type Options struct {
	URL, Name, Credentials string
	TLS                    *tls.Config
	Lease                  time.Duration
	Works, There           bool
	Host                   *Host
	Log                    *slog.Logger
}

// A Socket has the fields of the real type. Nothing calls them.
type Socket struct {
	Listen func(dir string) (net.Listener, error)
	Dial   func(ctx context.Context, dir string) (net.Conn, error)
}

// An InsecureError, LargeError or NewerError is never returned.
type (
	InsecureError struct{ Host string }
	LargeError    struct {
		Job         string
		Bytes, Most int64
	}
	NewerError struct{ Format, Values int }
)

func (*InsecureError) Error() string { return ErrOut.Error() }
func (*LargeError) Error() string    { return ErrOut.Error() }
func (*NewerError) Error() string    { return ErrOut.Error() }

// Open returns ErrOut.
func Open(context.Context, Options) (*Queue, error) { return nil, ErrOut }

// NewHost returns ErrOut.
func NewHost(string, Socket, *slog.Logger) (*Host, error) { return nil, ErrOut }

// HasQueue and the functions below report that no queue exists.
func HasQueue(string) bool  { return false }
func CheckURL(string) error { return ErrOut }
func Refused(error) bool    { return false }
func Untrusted(error) bool  { return false }
func Missing(error) bool    { return false }
func Lacking(error) bool    { return false }
func Newer(error) bool      { return false }

// A Host is never made.
type Host struct{}

func (*Host) Close() {}

// A Queue is never opened.
type Queue struct{}

func (*Queue) All(context.Context) ([]fleet.Record, error)         { return nil, ErrOut }
func (*Queue) Board(context.Context) (*fleet.Board, error)         { return nil, ErrOut }
func (*Queue) Close()                                              {}
func (*Queue) Drop(context.Context, string) (bool, error)          { return false, ErrOut }
func (*Queue) DropAs(context.Context, *fleet.Record) (bool, error) { return false, ErrOut }
func (*Queue) Fits(*fleet.Job) error                               { return ErrOut }
func (*Queue) Follow(func(string, *fleet.Record))                  {}
func (*Queue) Lead(context.Context, string, string, string, func(Leader)) (*Lead, error) {
	return nil, ErrOut
}
func (*Queue) Gone(context.Context, []string) (map[string]bool, error)       { return nil, ErrOut }
func (*Queue) ID() string                                                    { return "" }
func (*Queue) Lost(context.Context) (time.Time, error)                       { return time.Time{}, ErrOut }
func (*Queue) Name() string                                                  { return "" }
func (*Queue) Next(context.Context) (*Claim, error)                          { return nil, ErrOut }
func (*Queue) Offset() time.Duration                                         { return 0 }
func (*Queue) Pacer(int, func(*url.URL) fleet.Limit) *Pacer                  { return nil }
func (*Queue) Pause(context.Context, bool) error                             { return ErrOut }
func (*Queue) Paused() bool                                                  { return false }
func (*Queue) PlaceAt(context.Context, Destination) error                    { return ErrOut }
func (*Queue) Records(context.Context, []string) ([]fleet.Record, error)     { return nil, ErrOut }
func (*Queue) Report(context.Context, fleet.Job) (fleet.News, error)         { return 0, ErrOut }
func (*Queue) Retry(context.Context, string) (bool, error)                   { return false, ErrOut }
func (*Queue) Running(context.Context) ([]fleet.Record, error)               { return nil, ErrOut }
func (*Queue) Unfinished(context.Context) (uint64, error)                    { return 0, ErrOut }
func (*Queue) Withdraw(context.Context, string, string) error                { return ErrOut }
func (*Queue) Workers(context.Context) ([]fleet.Worker, error)               { return nil, ErrOut }
func (*Queue) Await(context.Context, *fleet.Job) (r fleet.Record, err error) { return r, ErrOut }

// A Destination is never stored.
type Destination struct{ ID, Endpoint, Name string }

// A DestinationError is never returned.
type DestinationError struct{}

func (*DestinationError) Error() string { return ErrOut.Error() }

// A Claim is never made.
type Claim struct {
	Record    fleet.Record
	Context   context.Context
	TakenOver bool
}

func (*Claim) Abandon()                                                         {}
func (*Claim) Confirm(context.Context) error                                    { return ErrOut }
func (*Claim) Fence() uint64                                                    { return 0 }
func (*Claim) Finish(context.Context, fleet.Ending) (r fleet.Record, err error) { return r, ErrOut }
func (*Claim) HostsHeld() bool                                                  { return false }
func (*Claim) Opened(context.Context, string) error                             { return ErrOut }
func (*Claim) Release(context.Context) error                                    { return ErrOut }
func (*Claim) Tell(fleet.Progress, int64)                                       {}

// A Lead is never made.
type Lead struct {
	Context context.Context
	Whole   bool
}

func (*Lead) Adopted()                                                 {}
func (*Lead) Keep(string, string, []byte)                              {}
func (*Lead) Kept(context.Context, func(string, string, []byte)) error { return ErrOut }
func (*Lead) Resign(context.Context) error                             { return ErrOut }
func (*Lead) Yield(context.Context) bool                               { return false }

// A Leader is never found.
type Leader struct {
	fleet.Lease
	Print string
	Whole bool
}

// A Limited is an argument of Pacer.Share. Nothing calls its methods.
type Limited interface {
	Set(bytes int64)
	Passed() int64
}

// A Pacer is never made.
type Pacer struct{}

func (*Pacer) Ended(context.Context, *url.URL, int64)                         {}
func (*Pacer) Held(string, time.Time) (time.Duration, int)                    { return 0, 0 }
func (*Pacer) Hold(string, int, time.Duration, time.Time)                     {}
func (*Pacer) Share(string, int64, Limited) func()                            { return func() {} }
func (*Pacer) Turn(context.Context, string, float64, time.Time) time.Duration { return 0 }
