package apt

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"braid/download"
	"braid/verify"
)

// mostInMemory is the size up to which a file is kept in memory. A journal would cost more than fetching the file
// again, and apt may request thousands of such files. mostReleases is the limit for files without a digest, a little
// more than apt's own limit.
const (
	mostInMemory = 1 << 20
	mostReleases = 16 << 20
)

// target returns the target of the download, or nil for a partial file on disk.
func (x *item) target() download.Target {
	if x.size >= 0 && x.size <= mostInMemory || x.size < 0 && x.most > 0 && x.most <= mostReleases {
		return &memory{name: x.file}
	}
	return nil
}

// A memory is a small file in memory. The file is written to disk after it is verified. Like apt's own transports, a
// memory does not sync the file.
type memory struct {
	name string
	mu   sync.RWMutex
	data []byte
}

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if end := off + int64(len(p)); end > mostReleases {
		return 0, errors.New("the file is too large for memory")
	} else if end > int64(len(m.data)) {
		m.data = append(m.data, make([]byte, end-int64(len(m.data)))...)
	}
	return copy(m.data[off:], p), nil
}

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if off >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Commit implements download.Target.
func (m *memory) Commit(_ context.Context, proof verify.Proof) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	part := m.name + ".part"
	f, err := create(part)
	if err != nil {
		return err
	}
	_, err = f.Write(m.data[:proof.Size()])
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(part, m.name)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}

// Discard implements download.Target.
func (m *memory) Discard() error { return nil }
