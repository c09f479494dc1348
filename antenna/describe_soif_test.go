package antenna_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"braid/antenna/feed"
	"braid/antenna/soif"
)

func decodeSOIF(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error] {
	return soif.NewDecoder(r, o).Records()
}

// describeSOIF describes a SOIF stream with the keys of the vectors. No vector needs a repair, so strict mode must give
// the same.
func describeSOIF(t *testing.T, raw []byte) document {
	tolerant, strict := readSOIF(t, raw, false), readSOIF(t, raw, true)
	for _, line := range differences("strict", throughJSON(t, strict), throughJSON(t, tolerant)) {
		t.Error(line)
	}
	return tolerant
}

func readSOIF(t *testing.T, raw []byte, strict bool) document {
	objects, discarded, problems := []document{}, []document{}, []document{}
	d := soif.NewDecoder(bytes.NewReader(raw), feed.Options{Strict: strict, Report: func(v feed.Violation) {
		switch {
		case v.Discarded:
			discarded = append(discarded, document{"offset": v.Start, "type": v.Type, "url": orNull(v.URL), "reason": v.Code})
		case aboutFeed(v):
			problems = append(problems, document{"offset": v.Offset, "code": v.Tag()})
		}
	}})
	rejected := ""
	for r, err := range d.Records() {
		var reject *feed.RejectError
		switch {
		case errors.As(err, &reject):
			rejected = reject.Code
		case err != nil:
			t.Fatal(err)
		default:
			objects = append(objects, describeObject(r))
		}
	}
	cut := slices.ContainsFunc(discarded, func(d document) bool { return d["reason"] == "truncated" })
	if (rejected != "") != cut {
		t.Errorf("rejected: %q, discarded %v", rejected, discarded) // rule 55
	}
	return document{
		"input": document{"gzip": d.Input().Gzip}, "objects": objects, "discarded": discarded, "problems": problems,
	}
}

// multiValue matches the name of one of several values of an attribute (RFC 2655, section 3.3).
var multiValue = regexp.MustCompile(`^(.+)-(0*[1-9][0-9]*)$`)

// valuesOf returns the values of an attribute: the one without a number first, then the others in the order of their
// numbers.
func valuesOf(attributes []feed.Field, name string) []string {
	values := map[int]string{}
	for _, a := range attributes {
		if m := multiValue.FindStringSubmatch(a.Name); m != nil && strings.EqualFold(m[1], name) {
			n, _ := strconv.Atoi(m[2])
			values[n] = a.Value
		} else if strings.EqualFold(a.Name, name) {
			values[0] = a.Value
		}
	}
	var list []string
	for _, n := range slices.Sorted(maps.Keys(values)) {
		list = append(list, values[n])
	}
	return list
}

func describeObject(r feed.Record) document {
	attributes, multi, fields := []document{}, document{}, r.Fields[1:] // the first field has the type
	for _, a := range fields {
		value, encoding := a.Value, "utf-8"
		if !utf8.ValidString(a.Value) {
			value, encoding = base64.StdEncoding.EncodeToString([]byte(a.Value)), "base64"
		}
		attributes = append(attributes, document{"name": a.Name, "size": len(a.Value), "value": value, "encoding": encoding})
		if m := multiValue.FindStringSubmatch(a.Name); m != nil {
			multi[m[1]] = valuesOf(fields, m[1])
		}
	}
	number := func(name string) any {
		text, _ := r.Get(name)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		return nil
	}
	return document{
		"offset": r.Offset, "type": r.Fields[0].Value, "url": orNull(r.URL), "key": keyOrNull(feed.Key, r.URL),
		"attributes": attributes, "multi": multi, "md5": orNull(r.MD5), "warnings": listOf(r.Warnings),
		"last_modification_time": orNull(r.LastModified), "update_time": orNull(r.Detected),
		"time_to_live": number("Time-to-Live"), "refresh_rate": number("Refresh-Rate"),
		"expires": orNull(r.Expires), "file_size": orNull(r.Size),
	}
}

// withoutNameless removes the objects without a URL, which do not become records.
func withoutNameless(want document) document {
	if objects, ok := want["objects"].([]any); ok {
		want["objects"] = slices.DeleteFunc(objects, func(o any) bool { return o.(document)["url"] == nil })
	}
	return want
}
