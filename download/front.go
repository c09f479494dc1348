package download

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"path"
	"strings"

	"braid/metalink"
	"braid/source"
)

// sniffSize is how much of a file is looked at to find out that it is a document: its root element is there by then.
const sniffSize = 4 << 10

// A front holds back the first bytes of an answer until they show whether a document comes in place of the file.
type front struct {
	held    []byte
	written int64 // bytes of it that are on disk already
	refusal error // what a document means: that it is another file; nil: it may replace the file
}

// isXML reports whether the URL asks for XML.
func isXML(u *url.URL) bool { return strings.EqualFold(path.Ext(u.Path), ".xml") }

// read takes what is on disk already. Where it cannot be read nothing is held back.
func (f *front) read(part io.ReaderAt) *front {
	if f == nil || f.written == 0 {
		return f
	}
	if _, err := part.ReadAt(f.held, 0); err != nil {
		return nil
	}
	return f
}

// decided reports whether more bytes would make no difference.
func (f *front) decided() bool {
	return len(f.held) >= sniffSize || len(f.held) >= 4 && !maybeXML(f.held)
}

// isDocument reports whether what is held is the beginning of a document.
func (f *front) isDocument() bool { return maybeXML(f.held) && metalink.Looks(f.held) }

// maybeXML spares most files the XML reader.
func maybeXML(b []byte) bool {
	b = bytes.TrimLeft(b, "\ufeff \t\r\n")
	return len(b) == 0 || b[0] == '<' || b[0] >= 0xfe
}

// hold keeps p back, and releases it with what came before once that is decided, or no more of it is wanted.
func (k *sink) hold(p []byte, off int64) (int, error) {
	k.front.held = append(k.front.held, p...)
	if !k.front.decided() && off+int64(len(p)) < k.limit.Load() {
		return len(p), nil
	}
	if err := k.release(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// release writes what is held, unless it is a document.
func (k *sink) release() error {
	f := k.front
	k.front = nil
	if f.isDocument() {
		k.document = f.refusal == nil
		return cmp.Or(f.refusal, errRefused)
	}
	_, err := k.write(f.held[f.written:], f.written)
	return err
}

// settle releases what is held at the end of a fetch, whose error it returns or replaces.
func (k *sink) settle(err error) error {
	if k.front == nil || int64(len(k.front.held)) == k.front.written || errors.Is(err, context.Canceled) {
		return err
	}
	if problem := k.release(); problem != nil && !errors.Is(problem, source.ErrEnough) {
		return problem
	}
	return err
}
