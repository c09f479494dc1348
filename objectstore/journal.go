package objectstore

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"time"

	"braid/download"
	"braid/internal/fsys"
)

// A journal has lines about the upload of one key. With these, another process can continue the upload. A journal
// contains no secrets.
type journal interface {
	// Read returns the lines that were appended since the last Clear, with their line endings. It omits an incomplete
	// last line.
	Read() ([]byte, error)
	Append(line []byte) error
	// Clear removes all lines.
	Clear() error
	Close() error
}

// A heading is the first line of a journal. It describes the upload.
type heading struct {
	Version  int       `json:"v"`
	Endpoint string    `json:"endpoint"`
	Bucket   string    `json:"bucket"`
	Key      string    `json:"key"`
	Upload   string    `json:"upload"`
	Token    string    `json:"token"` // also in the metadata of the object
	URL      string    `json:"url"`   // without secrets
	Began    time.Time `json:"began"`
}

// An entry is any other line of a journal. If Number is positive, it is an uploaded part. If Number is negative, it is
// the evidence about the file, written before Complete is sent. If Number is 0, only the first Start parts count,
// because later parts are uploaded again.
type entry struct {
	Number   int             `json:"n"`
	Start    int64           `json:"start"`
	Size     int64           `json:"size"`
	SHA256   string          `json:"sha256,omitempty"`
	ETag     string          `json:"etag,omitempty"`
	State    json.RawMessage `json:"state,omitempty"`
	Evidence json.RawMessage `json:"evidence,omitempty"`
}

// A record is the content of a journal after parsing.
type record struct {
	heading  heading
	parts    map[int]entry
	evidence []byte // set before Complete is sent
}

// none reports whether the journal has no upload.
func (r record) none() bool { return r.heading.Upload == "" }

const journalVersion, journalEnding = 1, ".upload"

// errNewer is the error for a journal of a newer version of braid, which is not changed.
var errNewer = errors.New("its journal was written by a newer braid and is left unchanged")

// record reads and parses the journal.
func (u *upload) record() (record, error) {
	data, err := u.journal.Read()
	if err == nil && isNewer(data) {
		err = &download.Error{Kind: download.Local, What: "store", Where: u.path(), Err: errNewer,
			Hint: "update braid, or choose another name with -o"}
	}
	return parseRecord(data), err
}

// isNewer reports whether data is the journal of a newer version of braid.
func isNewer(data []byte) bool {
	line, _, whole := bytes.Cut(data, []byte("\n"))
	var h struct{ V int }
	return whole && json.Unmarshal(line, &h) == nil && h.V > journalVersion
}

// parseRecord parses the lines of a journal up to the first one that is incomplete or invalid.
func parseRecord(data []byte) (r record) {
	r.parts = map[int]entry{}
	lines := bufio.NewReader(bytes.NewReader(data))
	for first := true; ; first = false {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return r
		}
		if first {
			if json.Unmarshal(line, &r.heading) != nil || r.heading.Version != journalVersion {
				return record{}
			}
			continue
		}
		var e entry
		if json.Unmarshal(line, &e) != nil {
			return r
		}
		r.apply(e)
	}
}

func (r *record) apply(e entry) {
	switch {
	case e.Number < 0:
		r.evidence = e.Evidence
	case e.Number == 0:
		maps.DeleteFunc(r.parts, func(n int, _ entry) bool { return int64(n) > e.Start })
	default:
		r.parts[e.Number] = e
	}
}

func appendLine(j journal, line any) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	return j.Append(append(data, '\n'))
}

// journal opens the journal for the upload of key.
func (s *Store) journal(key string) (journal, error) {
	if s.options.Folder == "" {
		return noJournal{}, nil
	}
	sum := sha256.Sum256([]byte(s.endpoint + "\n" + s.bucket + "\n" + key))
	j, err := openFile(s.options.Folder, hex.EncodeToString(sum[:12])+journalEnding)
	if _, busy := errors.AsType[*download.Error](err); busy && s.lease != nil {
		return noJournal{}, nil
	}
	return j, err
}

// A noJournal is a journal that keeps nothing.
type noJournal struct{}

func (noJournal) Read() ([]byte, error) { return nil, nil }
func (noJournal) Append([]byte) error   { return nil }
func (noJournal) Clear() error          { return nil }
func (noJournal) Close() error          { return nil }

// A fileJournal is a journal in a file. The file stays locked until Close.
type fileJournal struct {
	dir  fsys.Dir
	name string
	file fsys.File
	size int64
}

// openFile opens the journal file called name in folder. It creates a missing file.
func openFile(folder, name string) (journal, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	dir, err := fsys.OS.OpenDir(folder)
	if err != nil {
		return nil, err
	}
	for range 100 { // the previous owner may remove the file at the same time
		j, again, err := claim(dir, name)
		if !again {
			if err != nil {
				dir.Close()
			}
			return j, err
		}
	}
	dir.Close()
	return nil, errBusy
}

var errBusy = errors.New("the journal of the upload keeps changing")

// claim opens and locks the journal file called name. again reports that the file was removed meanwhile, so that claim
// must be called again.
func claim(dir fsys.Dir, name string) (j journal, again bool, err error) {
	f, err := dir.Create(name, 0o600)
	if errors.Is(err, fs.ErrExist) {
		f, err = dir.Open(name)
	}
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist), err
	}
	locked, err := f.TryLock()
	if err != nil || !locked {
		if err == nil {
			err = inUse(f)
		}
		f.Close()
		return nil, false, err
	}
	ours, err := f.Info()
	now, gone := dir.Stat(name)
	if err != nil || gone != nil || now.ID != ours.ID {
		f.Close()
		return nil, err == nil, err
	}
	return &fileJournal{dir: dir, name: name, file: f, size: ours.Size}, false, nil
}

func inUse(f fsys.File) error {
	by := "another process"
	if pid, _ := fsys.Holder(f); pid > 0 {
		by = fmt.Sprintf("process %d", pid)
	}
	return &download.Error{Kind: download.Local, What: "upload", Where: "", Err: fmt.Errorf("is in use by %s", by),
		Hint: "stop the other process with Ctrl-C"}
}

// Read implements journal.
func (j *fileJournal) Read() ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(j.file, 0, j.size))
	if err != nil {
		return nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	j.size = int64(len(data))
	return data, j.file.Truncate(j.size)
}

// Append implements journal.
func (j *fileJournal) Append(line []byte) error {
	n, err := j.file.WriteAt(line, j.size)
	if err != nil {
		return err
	}
	j.size += int64(n)
	return nil
}

// Clear implements journal.
func (j *fileJournal) Clear() error {
	j.size = 0
	return j.file.Truncate(0)
}

// Close implements journal. It removes the file of an empty journal.
func (j *fileJournal) Close() error {
	defer j.dir.Close()
	defer j.file.Close()
	if j.size == 0 {
		return j.dir.Remove(j.name)
	}
	return nil
}
