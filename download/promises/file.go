package promises

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"braid/verify"
)

// The file has a line that says what it is and has the CRC-32C of the rest, and a line for each URL, in the order of
// their keys: the key, what is promised, and the day of the last use, counted from 1970.
//
//	braid promises 1 crc32c=0a1b2c3d
//	00112233445566778899aabbccddeeff https=sha-256,openpgp 20000
const (
	family = "braid promises "
	header = family + "1 crc32c=%08x\n"

	maxDay = 1 << 24
)

// read reads a file. It is what format wrote, or it has a problem and nothing in it is used (rule 8).
func read(f *os.File) (urls map[key]entry, problem string, err error) {
	urls = map[key]entry{}
	info, err := f.Stat()
	if err != nil {
		return urls, "", err
	}
	if !info.Mode().IsRegular() {
		return urls, "it is not a regular file", nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile)) // what is cut off has another CRC
	if err != nil {
		return urls, "", err
	}
	urls, problem = parse(data)
	return urls, problem, nil
}

// parse reads the content of a file. With a problem there are no URLs.
func parse(data []byte) (urls map[key]entry, problem string) {
	const damaged = "it is damaged, or something else"
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(first)+"\n" != headerOf(rest) {
		version, known := strings.CutPrefix(string(first), family)
		if known && !strings.HasPrefix(version, "1 ") {
			return map[key]entry{}, "it is of another version"
		}
		return map[key]entry{}, damaged
	}
	urls, ok := parseURLs(string(rest))
	if !ok {
		return map[key]entry{}, damaged
	}
	return urls, ""
}

func headerOf(rest []byte) string {
	return fmt.Sprintf(header, crc32.Checksum(rest, crc32.MakeTable(crc32.Castagnoli)))
}

// parseURLs reads the lines of the URLs. There is one way to write each.
func parseURLs(text string) (urls map[key]entry, ok bool) {
	urls = map[key]entry{}
	var last key
	for text != "" {
		var line string
		if line, text, ok = strings.Cut(text, "\n"); !ok {
			return nil, false
		}
		k, e, ok := parseLine(line)
		if !ok || len(urls) > 0 && k.compare(last) <= 0 || len(urls) == maxURLs {
			return nil, false
		}
		urls[k], last = e, k
	}
	return urls, true
}

func parseLine(line string) (k key, e entry, ok bool) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 || len(fields[0]) != 2*len(k) {
		return k, e, false
	}
	if _, err := hex.Decode(k[:], []byte(fields[0])); err != nil {
		return k, e, false
	}
	for word := range strings.SplitSeq(fields[1], ",") {
		e.take(word)
	}
	var err error
	e.day, err = strconv.ParseInt(fields[2], 10, 64)
	return k, e, err == nil && e.Promise != (Promise{}) && e.day >= 0 && e.day <= maxDay && string(appendLine(nil, k, e)) == line
}

// take reads one word of a promise. One that is unknown makes no difference, and then the line is not the one that
// would have been written.
func (p *Promise) take(word string) {
	name, value, _ := strings.Cut(word, "=")
	alg, _ := verify.ParseAlgorithm(value)
	switch name {
	case "https":
		p.HTTPS = alg
	case "http":
		p.HTTP = alg
	case "openpgp":
		p.OpenPGP = true
	case "smime":
		p.SMIME = true
	case "pieces":
		p.Pieces = true
	}
}

// appendWords appends what take reads to line.
func (p Promise) appendWords(line []byte) []byte {
	start := len(line)
	for _, w := range [...]struct {
		said       bool
		name, more string
	}{
		{p.HTTPS != 0, "https=", p.HTTPS.String()}, {p.HTTP != 0, "http=", p.HTTP.String()},
		{p.OpenPGP, "openpgp", ""}, {p.SMIME, "smime", ""}, {p.Pieces, "pieces", ""},
	} {
		if !w.said {
			continue
		}
		if len(line) > start {
			line = append(line, ',')
		}
		line = append(append(line, w.name...), w.more...)
	}
	return line
}

// appendLine appends the line of an entry to b, without its end.
func appendLine(b []byte, k key, e entry) []byte {
	b = append(hex.AppendEncode(b, k[:]), ' ')
	b = append(e.appendWords(b), ' ')
	return strconv.AppendInt(b, e.day, 10)
}

// format writes the content of a file.
func format(urls map[key]entry) []byte {
	var lines []byte
	for _, k := range slices.SortedFunc(maps.Keys(urls), key.compare) {
		lines = append(appendLine(lines, k, urls[k]), '\n')
	}
	return append([]byte(headerOf(lines)), lines...)
}
