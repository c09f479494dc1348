package antenna_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
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

// describeSOIF says in the words of the vectors what a SOIF stream has. Of those, nothing needs a repair.
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
	for o, err := range d.Objects() {
		var reject *feed.RejectError
		switch {
		case errors.As(err, &reject):
			rejected = reject.Code
		case err != nil:
			t.Fatal(err)
		default:
			objects = append(objects, describeObject(o))
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

// multiValue is the name of one of several values of an attribute (RFC 2655, section 3.3).
var multiValue = regexp.MustCompile(`^(.+)-(0*[1-9][0-9]*)$`)

// valuesOf are the values of an attribute: that without a number first, then the others by their numbers.
func valuesOf(o soif.Object, name string) []string {
	values := map[int]string{}
	for _, a := range o.Attributes {
		if m := multiValue.FindStringSubmatch(a.Name); m != nil && strings.EqualFold(m[1], name) {
			n, _ := strconv.Atoi(m[2])
			values[n] = string(a.Value)
		} else if strings.EqualFold(a.Name, name) {
			values[0] = string(a.Value)
		}
	}
	var list []string
	for _, n := range slices.Sorted(maps.Keys(values)) {
		list = append(list, values[n])
	}
	return list
}

func describeObject(o soif.Object) document {
	attributes, multi := []document{}, document{}
	for _, a := range o.Attributes {
		value, encoding := string(a.Value), "utf-8"
		if !utf8.Valid(a.Value) {
			value, encoding = base64.StdEncoding.EncodeToString(a.Value), "base64"
		}
		attributes = append(attributes, document{"name": a.Name, "size": len(a.Value), "value": value, "encoding": encoding})
		if m := multiValue.FindStringSubmatch(a.Name); m != nil {
			multi[m[1]] = valuesOf(o, m[1])
		}
	}
	var md5 any
	if sum, ok := o.Digest(); ok {
		md5 = hex.EncodeToString(sum[:])
	}
	number := func(n int64, ok bool) any {
		if !ok {
			return nil
		}
		return n
	}
	return document{
		"offset": o.Offset, "type": o.Type, "url": orNull(o.URL), "key": keyOrNull(feed.Key, o.URL),
		"attributes": attributes, "multi": multi, "md5": md5, "warnings": listOf(o.Warnings),
		"last_modification_time": number(o.Number(soif.LastModificationTime)), "update_time": number(o.Number(soif.UpdateTime)),
		"time_to_live": number(o.Number(soif.TimeToLive)), "refresh_rate": number(o.Number(soif.RefreshRate)),
		"expires": number(o.Expires()), "file_size": number(o.Number(soif.FileSize)),
	}
}
