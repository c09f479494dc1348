package hinadi

import (
	"bytes"
	"io"
	"mime"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

const maxHeader = 64 << 10

// readHeader reads the header block. A feed may lack a header block (repair H2). Another format is rejected.
func (d *Decoder) readHeader() error {
	first, err := d.firstLine()
	if err != nil {
		return err
	}
	raw := [][]byte{bytes.Clone(first.Raw)}
	numbers := []int{first.Number}
	version, ok := cutVersion(string(first.Raw))
	switch {
	case ok:
		d.header.Version = version
		if string(first.Raw) != hinaLine {
			d.reading.Problem(codeVersionLine, first.Number, "", version)
		}
		raw, numbers = nil, nil
	case hasName(first.Raw, "User-Agent"):
		d.reading.Problem(codeNoHINA, first.Number, "", "")
	case hasName(first.Raw, "URL"):
		d.reading.Problem(codeNoHINA, first.Number, "", "")
		d.reading.Problem(codeNoHeader, first.Number, "", "")
		l := d.decode(first)
		d.again = &l
		return nil
	default:
		return codeForeign.Reject(first.Number)
	}
	return d.headerFields(raw, numbers)
}

// firstLine returns the first line that is not blank.
func (d *Decoder) firstLine() (feedtext.Line, error) {
	for {
		l, err := d.readLine()
		switch {
		case err == io.EOF:
			return l, codeForeign.Reject(d.lastLine)
		case err != nil || len(l.Raw) > 0:
			return l, err
		}
		d.reading.Problem(codeExtraBlank, l.Number, "", "")
	}
}

// headerFields reads the rest of the header block. The lines are decoded after the charset is known.
func (d *Decoder) headerFields(raw [][]byte, numbers []int) error {
	size := 0
	for {
		l, err := d.readLine()
		if err == io.EOF {
			if d.end = feed.Open; d.lastEnd == feedtext.NoLineEnd {
				d.end = feed.Cut
			}
			break
		}
		if err == nil && len(l.Raw) == 0 {
			break
		}
		if err != nil {
			return err
		}
		if size += len(l.Raw); size > maxHeader || len(raw) == maxFields {
			return codeLargeHeader.Reject(l.Number)
		}
		raw, numbers = append(raw, bytes.Clone(l.Raw)), append(numbers, l.Number)
	}
	d.declare(raw, numbers)
	seen := map[string]bool{}
	for i, line := range raw {
		d.headerField(d.decode(feedtext.Line{Raw: line, Number: numbers[i]}), seen)
	}
	if d.header.UserAgent == "" {
		d.reading.Problem(codeNoUserAgent, numbersOr(numbers, d.lastLine), "", "")
	}
	return nil
}

func numbersOr(numbers []int, otherwise int) int {
	if len(numbers) > 0 {
		return numbers[0]
	}
	return otherwise
}

// declare looks for the charset in the header block (section 8).
func (d *Decoder) declare(raw [][]byte, numbers []int) {
	for i, line := range raw {
		if !hasName(line, "Content-Type") {
			continue
		}
		_, value, _, _ := cutField(string(line))
		if label := charsetOf(value); label != "" {
			d.lines.Declare(label)
			if _, known := feedtext.LookupCharset(label); !known {
				d.reading.Problem(codeUnknownCharset, numbers[i], "", label)
			}
		}
		return
	}
}

// charsetOf returns the charset parameter of a Content-Type.
func charsetOf(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err == nil || err == mime.ErrInvalidMediaParameter {
		return params["charset"]
	}
	return ""
}

// headerField handles a line of the header block. The specification does not mention duplicates; of several fields, the
// first is used.
func (d *Decoder) headerField(l textLine, seen map[string]bool) {
	name, value, blanks, ok := cutField(l.text)
	if !ok {
		d.reading.Problem(codeMalformedHeader, l.number, "", "")
		return
	}
	name = canonicalName(name)
	if value == "" {
		d.reading.Problem(codeEmpty, l.number, name, "")
	} else if blanks == 0 {
		d.reading.Problem(codeNoBlank, l.number, name, "")
	}
	if !l.clean {
		d.reading.Problem(codeUndecodable, l.number, name, "")
	}
	if key := strings.ToLower(name); seen[key] {
		d.reading.Problem(codeDuplicateHeader, l.number, name, "")
	} else if seen[key] = true; value != "" {
		d.setHeader(l.number, name, value)
	}
}

func (d *Decoder) setHeader(line int, name, value string) {
	switch name {
	case "User-Agent":
		d.header.UserAgent = value
	case "Content-Type":
		d.header.ContentType = value
	case "Date":
		d.headerDate(line, value)
	default:
		d.header.Other = append(d.header.Other, feed.Field{Name: name, Value: value})
		d.reading.Problem(codeUndefinedHeader, line, name, "")
	}
}

func (d *Decoder) headerDate(line int, value string) {
	t, odd, ok := parseDate(value)
	d.header.Date = t
	if !ok {
		d.reading.Problem(codeBadDate, line, "Date", value)
	}
	for _, code := range odd {
		d.reading.Problem(code, line, "Date", value)
	}
}

// hasName reports whether a line is a field with this name.
func hasName(line []byte, name string) bool {
	return len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(string(line[:len(name)]), name)
}

// cutVersion parses the HINA line (section 5.1). It accepts all published versions and ignores case.
func cutVersion(line string) (version string, ok bool) {
	const prefix = "HINA/"
	line = strings.TrimRight(line, " \t")
	if len(line) <= len(prefix) || !strings.EqualFold(line[:len(prefix)], prefix) {
		return "", false
	}
	version = line[len(prefix):]
	switch strings.ToLower(version) {
	case "2.0", "2.1", "2.2", "2.0beta", "2.1beta", "2.2beta":
		return version, true
	}
	return "", false
}
