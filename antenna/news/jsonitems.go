package news

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"braid/antenna/feed"
)

// A jsonItems finds the items of a JSON Feed.
type jsonItems struct {
	d    *Decoder
	json *json.Decoder
	// state is the position in the document.
	state jsonState
	// named reports that the document declares a version of JSON Feed. listed reports that the member items was found.
	named, listed bool
}

type jsonState int

const (
	before jsonState = iota
	inFeed
	inItems
)

func newJSONItems(d *Decoder) *jsonItems { return &jsonItems{d: d, json: json.NewDecoder(d.in)} }

// next reads the next item and adds its records to the queue.
func (j *jsonItems) next() error {
	for {
		j.d.in.forget(j.json.InputOffset())
		done, err := j.step()
		if err != nil && err != io.EOF {
			return j.failed(err)
		}
		if done || err != nil {
			return err
		}
	}
}

// step reads one value, and reports whether it was an item.
func (j *jsonItems) step() (item bool, err error) {
	if j.state == inItems {
		if j.json.More() {
			return true, j.read()
		}
		j.state = inFeed
		_, err := j.json.Token()
		return false, err
	}
	token, err := j.json.Token()
	if err != nil {
		return false, notEnd(err)
	}
	if j.state == before {
		j.state = inFeed
		return false, nil // the opening brace
	}
	if token == json.Delim('}') {
		return false, j.end()
	}
	name, _ := token.(string)
	return false, j.value(name)
}

func notEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// value reads a member of the feed itself.
func (j *jsonItems) value(name string) error {
	if name == "items" && !j.listed {
		token, err := j.json.Token()
		if err != nil {
			return notEnd(err)
		}
		if token != json.Delim('[') {
			return codeForeign.Reject(1)
		}
		j.listed, j.state = true, inItems
		return nil
	}
	var value json.RawMessage
	if err := j.json.Decode(&value); err != nil {
		return notEnd(err)
	}
	if name == "version" {
		j.named = strings.Contains(string(value), "jsonfeed.org/version/")
	}
	return nil
}

func (j *jsonItems) end() error {
	if !j.listed {
		return codeForeign.Reject(1)
	}
	if !j.named {
		j.d.reading.Problem(codeVersion, 0, "", "")
	}
	if j.d.reading.Entries() == 0 {
		j.d.reading.Problem(codeNoItem, 0, "", "")
	}
	return io.EOF
}

func (j *jsonItems) read() error {
	line := j.line()
	if err := j.d.count(line); err != nil {
		return err
	}
	var raw json.RawMessage
	if err := j.json.Decode(&raw); err != nil {
		return notEnd(err)
	}
	r := feed.Record{Format: feed.News, Line: line}
	document := append(append([]byte(`{"items":[`), raw...), "]}"...)
	if len(raw) > 0 && raw[0] != '{' { // gofeed would accept null
		j.d.find(codeUnread, "", "an item is not an object")
		j.d.judge(&r)
		return nil
	}
	j.d.item(r, readJSON, document)
	return nil
}

// line returns the line of the next value.
func (j *jsonItems) line() int {
	at := j.json.InputOffset()
	rest := j.d.in.between(at, j.d.in.base+int64(len(j.d.in.window)))
	return j.d.in.lineAt(at + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,"))))
}

// failed returns the reason for an error of reading a value.
func (j *jsonItems) failed(err error) error {
	var reject *feed.RejectError
	switch broken := j.d.in.broken(); {
	case j.d.stopped != nil:
		return j.d.stopped
	case broken != nil:
		return broken
	case errors.As(err, &reject):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return codeTruncated.Reject(j.line())
	}
	return &feed.RejectError{Line: j.line(), Code: malformed, Why: "not well-formed JSON"}
}
