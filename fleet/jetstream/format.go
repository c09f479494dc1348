package jetstream

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// format is the version of the format that this program stores values in. Values without a format have format 1. The
// program reads all formats up to its own, and stores changed values in its own. It changes no values of later formats,
// because it would lose fields that it does not know.
const format = 1

// A NewerError reports values that a newer version of braid has stored. They are neither changed nor removed.
type NewerError struct {
	Format int // the highest format of these values
	Values int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("written by a newer braid and left unchanged: %d of the queue's values (format %d; this braid "+
		"knows %d)", e.Values, e.Format, format)
}

// with returns e with the values of other added. other may be nil.
func (e *NewerError) with(other *NewerError) *NewerError {
	if other == nil {
		return e
	}
	return &NewerError{max(e.Format, other.Format), e.Values + other.Values}
}

// encode encodes value as JSON and adds the format.
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

// decode decodes data, stored by any version of braid, into value. The error is a *NewerError if the format is newer.
func decode(data []byte, value any) error {
	var head struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(data, &head) == nil && head.Format > format {
		return &NewerError{head.Format, 1}
	}
	return json.Unmarshal(data, value)
}

// tellNewer logs err, once for q.
func tellNewer(q *Queue, err *NewerError) {
	if !q.toldNewer.Swap(true) {
		q.log.Warn("queue", "error", err, "hint", "update all processes of the queue to the newer version")
	}
}

// A LargeError reports a job that is too large for the queue.
type LargeError struct {
	Job         string
	Bytes, Most int64
}

func (e *LargeError) Error() string {
	return fmt.Sprintf("the job is too large for the queue: %d bytes with its URLs and options, of at most %d", e.Bytes, e.Most)
}

// jobsOfValue is the number of jobs that fit into one value of the queue. A record may contain a newer job besides the
// running one, and the results of attempts.
const jobsOfValue = 4

// tooLarge logs and returns why the job with that key is dead: its record cannot be stored. An older version of braid
// stored it without checking the size, or the server's limit was lowered.
func tooLarge(q *Queue, key string) string {
	why := fmt.Sprintf("its record is too large for the queue: the server's limit is %d bytes", q.storage.conn.MaxPayload())
	q.log.Warn("queue", "job", key, "error", why)
	return why
}

// entryOf decodes the record in e. ok is false for a value of another program or of a newer version of braid.
func entryOf(q *Queue, e jetstream.KeyValueEntry) (r fleet.Record, ok bool) {
	err := decode(e.Value(), &r)
	if newer, is := err.(*NewerError); is {
		tellNewer(q, newer)
	}
	return r, err == nil
}
