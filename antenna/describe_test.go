package antenna_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/antenna/lirs"
)

// orNull returns nil for a zero value, because the vectors have null for an unknown value.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// listOf returns a copy that is not nil, because the vectors have [] for an empty list.
func listOf[T any](list []T) []T { return append([]T{}, list...) }

// aboutFeed reports whether a violation is about the feed and not about a record.
func aboutFeed(v feed.Violation) bool { return v.Record == 0 }

// supersede marks each record that has the same URL as another one that is to be chosen.
func supersede(records []feed.Record, descriptions []document, key func(string) (string, bool)) {
	groups := map[string][]int{}
	for i, r := range records {
		if k, ok := key(r.URL); ok {
			groups[k] = append(groups[k], i)
		}
	}
	for _, group := range groups {
		same := []feed.Record{}
		for _, i := range group {
			same = append(same, records[i])
		}
		chosen := feed.Choose(same, math.MaxInt64)
		for n, i := range group {
			if n != chosen {
				descriptions[i]["superseded_by_line"] = same[chosen].Line
			}
		}
	}
}

// looseKey returns the folded key without a slash at its end, which the vectors have too.
func looseKey(url string) (string, bool) {
	key, ok := feed.FoldedKey(url)
	return strings.TrimSuffix(key, "/"), ok
}

func keyOrNull(key func(string) (string, bool), url string) any {
	if k, ok := key(url); ok {
		return k
	}
	return nil
}

// describeHina describes a hina-di feed with the keys of the vectors.
func describeHina(t *testing.T, raw []byte) document {
	d, tolerant, discardedTolerant, problems, rejected := readHina(t, raw, false)
	_, strict, discardedStrict, strictProblems, _ := readHina(t, raw, true)
	if got, want := throughJSON(t, document{"p": strictProblems}),
		throughJSON(t, document{"p": problems}); len(differences("", got, want)) > 0 {
		t.Errorf("problems are %v in strict mode, else %v", got, want)
	}
	entities := []document{}
	for _, r := range tolerant {
		entities = append(entities, describeEntity(r))
	}
	supersede(tolerant, entities, feed.Key)
	strictKept(t, tolerant, strict, discardedStrict)
	in := d.Input()
	doc := document{
		"input": document{
			"gzip": in.Gzip, "line_endings": in.LineEnds, "charset": in.Charset, "charset_declared": orNull(in.Declared),
		},
		"fatal": orNull(rejected), "header": describeHeader(d.Header()), "entities": entities,
		"discarded_tolerant": discardedTolerant, "discarded_strict": discardedStrict, "problems": problems,
	}
	if rejected != "" {
		doc["header"] = nil
	}
	return doc
}

// strictKept checks that each record is either kept or discarded in strict mode.
func strictKept(t *testing.T, tolerant, strict []feed.Record, discarded []document) {
	for _, r := range tolerant {
		kept := slices.ContainsFunc(strict, func(s feed.Record) bool { return s.Line == r.Line })
		gone := slices.ContainsFunc(discarded, func(d document) bool { return d["line"] == r.Line })
		if kept == gone {
			t.Errorf("line %d in strict mode: kept %v, discarded %v", r.Line, kept, gone)
		}
	}
}

func readHina(t *testing.T, raw []byte,
	strict bool) (d *hinadi.Decoder, records []feed.Record, discarded, problems []document, rejected string) {
	discarded, problems = []document{}, []document{}
	d = hinadi.NewDecoder(bytes.NewReader(raw), feed.Options{Strict: strict, Report: func(v feed.Violation) {
		switch {
		case v.Discarded:
			discarded = append(discarded, document{
				"line": v.Record, "url": orNull(v.URL), "reason": v.Code, "field": orNull(v.Field), "at": v.Line,
			})
		case aboutFeed(v):
			problems = append(problems, document{"line": v.Line, "code": v.Tag()})
		}
	}})
	records, rejected = collect(t, d.Records())
	return d, records, discarded, problems, rejected
}

func describeHeader(h hinadi.Header) document {
	other := document{}
	for _, f := range h.Other {
		other[f.Name] = f.Value
	}
	return document{
		"hina": orNull(h.Version), "user_agent": orNull(h.UserAgent), "date": orNull(h.Date),
		"content_type": orNull(h.ContentType), "other": other,
	}
}

func describeEntity(r feed.Record) document {
	fields := [][2]string{}
	for _, f := range r.Fields {
		fields = append(fields, [2]string{f.Name, f.Value})
	}
	var method any
	if r.Method != nil {
		method = r.Method
	}
	return document{
		"line": r.Line, "url": r.URL, "key": keyOrNull(feed.Key, r.URL), "loose_key": keyOrNull(looseKey, r.URL),
		"fields": fields, "last_modified": orNull(r.LastModified), "last_modified_detected": orNull(r.Detected),
		"date": orNull(r.Date), "expires": orNull(r.Expires), "method": method, "result": orNull(r.Result),
		"virtual": orNull(r.Virtual), "keywords": listOf(r.Keywords), "complete": r.Complete,
		"propagatable": r.Agent != "" && r.AgentURL != "", "warnings": listOf(r.Warnings),
	}
}

// describeLIRS describes a LIRS feed with the keys of the vectors.
func describeLIRS(t *testing.T, raw []byte) document {
	d, tolerant, discarded, problems := readLIRS(t, raw, false)
	_, strict, discardedStrict, _ := readLIRS(t, raw, true)
	records := []document{}
	for _, r := range tolerant {
		records = append(records, describeSite(r))
	}
	supersede(tolerant, records, feed.FoldedKey)
	strictKept(t, tolerant, strict, discardedStrict)
	for _, r := range strict {
		if len(r.Warnings) > 0 {
			t.Errorf("line %d is kept in strict mode with %q", r.Line, r.Warnings)
		}
	}
	in := d.Input()
	return document{
		"input":   document{"gzip": in.Gzip, "line_endings": in.LineEnds, "charset": in.Charset},
		"records": records, "discarded": discarded, "problems": problems,
	}
}

func readLIRS(t *testing.T, raw []byte, strict bool) (d *lirs.Decoder, records []feed.Record, discarded, problems []document) {
	discarded, problems = []document{}, []document{}
	d = lirs.NewDecoder(bytes.NewReader(raw), feed.Options{Strict: strict, Report: func(v feed.Violation) {
		switch {
		case v.Discarded:
			discarded = append(discarded, document{"line": v.Line, "url": orNull(v.URL), "reason": v.Tag()})
		case aboutFeed(v):
			problems = append(problems, document{"line": v.Line, "code": v.Tag()})
		}
	}})
	records, rejected := collect(t, d.Records())
	if rejected != "" {
		t.Errorf("rejected: %s", rejected)
	}
	return d, records, discarded, problems
}

func describeSite(r feed.Record) document {
	extensions := []string{}
	for _, f := range r.Fields {
		extensions = append(extensions, f.Value)
	}
	return document{
		"line": r.Line, "url": r.URL, "key": keyOrNull(feed.Key, r.URL), "lirs_key": keyOrNull(feed.FoldedKey, r.URL),
		"last_modified": orNull(r.LastModified), "last_detected": orNull(r.Detected), "timezone": r.Zone,
		"content_length": orNull(r.Size), "title": orNull(r.Title), "author": orNull(r.Author),
		"antenna_url": orNull(r.AgentURL), "extensions": extensions, "failed": r.Failed, "warnings": listOf(r.Warnings),
	}
}
