package releaseapi

import (
	"io"

	"braid/antenna/feed"
)

// Format is the JSON that forges and registries use to list the releases of a project. It is not written.
var Format = feed.Format{
	ID: feed.ReleaseAPI, Name: "releases",
	Members: known(),
	Decode:  func(r io.Reader, o feed.Options) feed.Decoder { return NewDecoder(r, o) },
}
