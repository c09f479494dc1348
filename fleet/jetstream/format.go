package jetstream

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// format is the version of the values that this program stores. One without a version is of version 1, as those were
// that had none. A program reads all versions up to its own, and stores what it changes in its own. What is of a later
// one is left alone: to store it anew would lose what this program does not know of.
const format = 1

// A NewerError says that values are of a newer braid. They are neither changed nor removed.
type NewerError struct {
	Format int // the highest of theirs
	Values int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("written by a newer braid, and left alone: %d of the queue's values, of format %d, and this one knows %d", e.Values, e.Format, format)
}

// with adds the values of another error, which may be nil.
func (e *NewerError) with(other *NewerError) *NewerError {
	if other == nil {
		return e
	}
	return &NewerError{max(e.Format, other.Format), e.Values + other.Values}
}

// encode makes a value to be stored, with the version of its format.
func encode(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil || len(data) == 0 || data[0] != '{' {
		return data, err
	}
	head := fmt.Appendf(nil, `{"format":%d`, format)
	if len(data) > len("{}") {
		head = append(head, ',')
	}
	return append(head, data[1:]...), nil
}

// decode reads what encode made, here or in another version of braid. The error is a *NewerError if this one does not
// know the format.
func decode(data []byte, value any) error {
	var head struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(data, &head) == nil && head.Format > format {
		return &NewerError{head.Format, 1}
	}
	return json.Unmarshal(data, value)
}

// tellNewer says once that there are values of a newer braid.
func tellNewer(q *Queue, err *NewerError) {
	if !q.toldNewer.Swap(true) {
		q.log.Warn("queue", "error", err, "hint", "have all processes of the queue be of the newer version")
	}
}

// A LargeError says that a job is larger than the queue takes.
type LargeError struct {
	Job         string
	Bytes, Most int64
}

func (e *LargeError) Error() string {
	return fmt.Sprintf("the job is too large for the queue: %d bytes with its places and options, and %d may be", e.Bytes, e.Most)
}

// jobsOfValue is how many jobs have room in a value of the queue. A record has the newer one beside that at work, and
// what became of the tries.
const jobsOfValue = 4

// tooLarge is why a job is dead whose record has no room for what becomes of it, as it was stored by a program that did
// not look, or the server takes less now.
func tooLarge(q *Queue, key string) string {
	why := fmt.Sprintf("its record is too large for the queue, whose server takes %d bytes", q.conn.MaxPayload())
	q.log.Warn("queue", "job", key, "error", why)
	return why
}

// entryOf reads the record of an entry. ok is false if it is of another program, or of a newer braid.
func entryOf(q *Queue, e jetstream.KeyValueEntry) (r fleet.Record, ok bool) {
	err := decode(e.Value(), &r)
	if newer, is := err.(*NewerError); is {
		tellNewer(q, newer)
	}
	return r, err == nil
}
