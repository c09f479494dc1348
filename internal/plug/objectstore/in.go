//go:build !nofleet

// Package objectstore opens object stores. With the tag nofleet it has the same names, but no store can be opened.
package objectstore

import "braid/objectstore"

// The types of object stores.
type (
	Store   = objectstore.Store
	Options = objectstore.Options
	Lease   = objectstore.Lease
	Left    = objectstore.Left
)

// IsURL reports whether a word is the URL of a place in an object store.
func IsURL(word string) bool { return objectstore.IsURL(word) }

// Open opens the store at a place.
func Open(place string, o Options) (*Store, error) { return objectstore.Open(place, o) }

// Journaled lists the uploads with a journal in a folder.
func Journaled(folder string) ([]Left, error) { return objectstore.Journaled(folder) }

// Reserved reports whether name is the name of an object with evidence.
func Reserved(name string) bool { return objectstore.Reserved(name) }
