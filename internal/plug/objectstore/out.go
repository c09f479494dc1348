//go:build nofleet

// Package objectstore replaces object stores in a program that is built without them. Its stores cannot be opened, so
// their methods are never called.
package objectstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"braid/download"
	"braid/internal/problem"
)

var errOut = errors.New(problem.NoFleet)

// A Store is never opened.
type Store struct{ download.Store }

// Options has the fields of the real type. Nothing reads them.
type Options struct {
	Folder    string
	Note      func(text string)
	Timeout   time.Duration
	UserAgent string
	Getenv    func(name string) string
}

// A Lease has the fields of the real type. Nothing reads them.
type Lease struct {
	Job     string
	Opened  func(ctx context.Context, upload string) error
	Confirm func(ctx context.Context) error
}

// A Left is never found.
type Left struct {
	Endpoint, Bucket, Key, Upload, URL string
	Size                               int64
	Began                              time.Time
	InUse                              bool
	PID                                int
}

func (Left) Path() string { return "" }

func (*Store) Abort(context.Context, string, string) error                  { return errOut }
func (*Store) Existing(context.Context, string) (*download.Existing, error) { return nil, errOut }
func (*Store) Endpoint() string                                             { return "" }
func (*Store) Leased(Lease) *Store                                          { return nil }
func (*Store) RaiseLatest(context.Context, string, string, func(string) bool) error {
	return errOut
}
func (*Store) Amend(context.Context, string, int64, func([]byte) ([]byte, error)) error {
	return errOut
}
func (*Store) Remove(context.Context, string, func(*download.Existing) bool) error { return errOut }
func (*Store) Left(context.Context) ([]Left, error)                                { return nil, errOut }
func (*Store) Sweep(context.Context, string) ([]Left, error)                       { return nil, errOut }
func (*Store) TakeOver(context.Context, string, string) (bool, error)              { return false, errOut }

// IsURL reports whether a word is the URL of a place in an object store.
func IsURL(word string) bool { return strings.HasPrefix(word, "s3://") }

// Open returns an error, because this program was built without object stores.
func Open(place string, _ Options) (*Store, error) {
	return nil, &download.Error{Kind: download.Usage, What: "store", Where: place, Err: errOut}
}

// Journaled returns no uploads.
func Journaled(string) ([]Left, error) { return nil, nil }

// Reserved reports whether name is the name of an object with evidence.
func Reserved(name string) bool { return strings.HasSuffix(name, ".evidence.json") }
