package download

import (
	"bytes"
	"errors"
	"fmt"

	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/verify"
)

// torrentOf is the first torrent about a file.
func torrentOf(f metalink.File) (metalink.Document, bool) {
	for _, d := range f.Documents {
		if isTorrent(d) && isWeb(d.URL) {
			return d, true
		}
	}
	return metalink.Document{}, false
}

func isTorrent(d metalink.Document) bool { return d.Type == metainfo.MediaType }

// withTorrent adds the pieces of a file that a torrent has. Their SHA-1 tells where the file is damaged; whether it is the
// right one says a strong digest, and without one they are not used.
func withTorrent(data []byte, name string, file metalink.File, claims []verify.Claim) (metalink.File, error) {
	t, err := metainfo.Parse(bytes.NewReader(data))
	if err != nil {
		return file, err
	}
	f, ok := inTorrent(t, name)
	switch {
	case !verify.Strong(claims):
		return file, errors.New("no SHA-256 or better is known of the file")
	case !ok:
		return file, errors.New("it does not say which of its files this is")
	case differs(f.Size, file.Size):
		return file, fmt.Errorf("the file has %d bytes there, not %d", f.Size, file.Size)
	case f.Pieces.IsZero():
		return file, errors.New("the pieces of this file run into those of others")
	}
	file.Pieces = f.Pieces
	return file, nil
}

// inTorrent is the file of a torrent that is meant: that of the name, with or without the folder of the torrent or, if no
// name is given, the only one.
func inTorrent(t metainfo.Torrent, name string) (metainfo.File, bool) {
	for _, f := range t.Files {
		if name == f.Name || name == f.Path() {
			return f, true
		}
	}
	if len(t.Files) == 1 && name == "" {
		return t.Files[0], true
	}
	return metainfo.File{}, false
}
