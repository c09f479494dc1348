package hinadi

import (
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// set sets the field called name to value, which is not empty. An invalid value discards the block (section 11).
func (b *block) set(line int, name, value string) {
	switch kinds[name] {
	case uri:
		b.setURI(line, name, value)
	case date:
		b.setDate(line, name, value)
	case text:
		b.setText(name, value)
	case contentType:
		b.record.ContentType = value
		if !isContentType(value) {
			b.in.Find(codeBadContentType, line, name, value)
		}
	case version:
		b.setVersion(line, name, value)
	case method:
		b.setMethod(line, name, value)
	case count:
		if !feedtext.IsNumber(value) {
			b.in.Find(codeBadNumber, line, name, value)
		}
	}
}

func (b *block) setURI(line int, name, value string) {
	if len(value) > feed.MaxURL {
		b.in.Find(codeURLTooLong, line, name, "")
		return
	}
	if !feed.IsURI(value) {
		b.in.Find(codeBadURL, line, name, value)
		return
	}
	switch name {
	case "URL":
		b.record.URL = value
	case "Virtual":
		b.record.Virtual = value
	case "Authorized-url":
		b.record.AgentURL = value
	}
}

func (b *block) setDate(line int, name, value string) {
	t, odd, ok := parseDate(value)
	if !ok {
		b.in.Find(codeBadDate, line, name, value)
		return
	}
	for _, code := range odd {
		b.in.Find(code, line, name, value)
	}
	r := &b.record
	switch name {
	case "Date":
		r.Date = t
	case "Last-Modified":
		r.LastModified = t
	case "Last-Modified-Detected":
		r.Detected = t
	default: // Expires and Expire mean the same (section 5.11); the earlier time is used
		if r.Expires != 0 && t != 0 && r.Expires != t {
			b.in.Find(codeExpiresDiffer, line, name, "")
		}
		if r.Expires == 0 || t != 0 && t < r.Expires {
			r.Expires = t
		}
	}
}

func (b *block) setText(name, value string) {
	r := &b.record
	switch name {
	case "Title":
		r.Title = value
	case "Author-Name":
		r.Author = value
	case "Server":
		r.Server = value
	case "Authorized":
		r.Agent = value
	case "Keyword":
		for word := range strings.SplitSeq(value, ",") {
			if word = strings.Trim(word, " \t"); word != "" {
				r.Keywords = append(r.Keywords, word)
			}
		}
	}
}

// setVersion parses a HINA-Version (section 5.4). WDB writes 2.2beta here too.
func (b *block) setVersion(line int, name, value string) {
	digits, ok := strings.CutPrefix(value, "HINA/")
	major, minor, dot := strings.Cut(digits, ".")
	plain, beta := strings.CutSuffix(minor, "beta")
	if !ok || !dot || !feedtext.IsNumber(major) || !feedtext.IsNumber(plain) {
		b.in.Find(codeBadVersion, line, name, value)
		return
	}
	if beta {
		b.in.Find(codeVersionBeta, line, name, "")
	}
	b.record.Complete = true
}

// isContentType reports whether s begins with type "/" subtype (section 5.6), where the subtype is a TOKEN.
func isContentType(s string) bool {
	major, minor, ok := strings.Cut(s, "/")
	if !ok || major == "" || minor == "" || minor[0] == ' ' || minor[0] == '\t' {
		return false
	}
	for i := range len(major) {
		c := major[i]
		if c <= ' ' || c > '~' || strings.IndexByte(`()<>@,;:\"[]?=`, c) >= 0 {
			return false
		}
	}
	return true
}

// methodWords has the words of the grammar (section 5.17). moreMethods has other words that agents have written (repair
// H9).
var (
	methodWords = map[string]bool{"GET": true, "HEAD": true, "FILE": true, "REMOTE": true}
	moreMethods = map[string]bool{"RSS": true, "CACHE": true, "LENGTH": true, "KEYWORD": true, "ERROR": true}
)

// setMethod parses a Method: how the metadata was obtained and passed on. The last agent is first (section 5.17).
func (b *block) setMethod(line int, name, value string) {
	parts := strings.Split(value, "/")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.TrimLeft(parts[i], " \t")
	}
	r, last := &b.record, len(parts)-1
	if result := parts[last]; isResult(result) {
		r.Result, parts = result, parts[:last]
		if len(result) != 3 || !feedtext.IsNumber(result) {
			b.in.Find(codeMethodResult, line, name, value)
		}
	} else {
		b.in.Find(codeNoResult, line, name, value)
	}
	if len(parts) == 0 {
		b.in.Find(codeBadMethod, line, name, value)
	}
	for _, word := range parts {
		switch upper := strings.ToUpper(word); {
		case methodWords[word]:
		case methodWords[upper] || moreMethods[upper]:
			b.in.Find(codeMethodWord, line, name, word)
		default:
			b.in.Find(codeBadMethod, line, name, value)
		}
	}
	r.Method = parts
}

// isResult reports whether s is the numeric result of a method. WDB also writes negative results.
func isResult(s string) bool { return feedtext.IsNumber(strings.TrimPrefix(s, "-")) }

// HatenaModified returns the time in the field that Hatena Antenna writes instead of Last-Modified (repair H12). The
// time is when Hatena detected a change, not when the site changed, and is used only if a feed is configured for it.
func HatenaModified(r feed.Record) (t feed.Time, ok bool) {
	value, ok := r.Get("X-Hatena-Last-Modified")
	if !ok {
		return 0, false
	}
	t, _, ok = parseDate(value)
	return t, ok && t != 0
}
