package recheck

import (
	"net/url"

	"braid/byterange"
	"braid/source"
)

// A Place is a source of the file.
type Place struct {
	ID     int // for the caller
	URL    *url.URL
	Masked string // URL, for messages
	Host   string // host:port
	Source source.Source
	Shown  Showing
	// Sent holds the ranges of the part file that only this source sent. A search removes the ranges that it replaces.
	Sent *byterange.Set
	Rate float64 // bytes a second
	Err  error   // last error of the source
	// Out means that the source is not asked to compare the bytes of other sources. Never means that the source is not
	// asked at all.
	Out, Never bool
	// Check returns an error if an answer is of another file. An [EndError] ends the search.
	Check func(source.Answer) error
	// Failed is called with each error of the source. It may return an EndError.
	Failed func(error) error
}

// An EndError ends a search, even if other sources are left.
type EndError struct{ Err error }

func (e *EndError) Error() string { return e.Err.Error() }
func (e *EndError) Unwrap() error { return e.Err }

// A DiskError is an error of the part file or of an overlay beside it.
type DiskError struct{ Err error }

func (e *DiskError) Error() string { return e.Err.Error() }
func (e *DiskError) Unwrap() error { return e.Err }

func local(err error) error { return &DiskError{err} }
