package state

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"braid/internal/fsys"
	"braid/verify"
	"braid/verify/signatures"
)

// Earlier releases kept all pins in one file, and all speeds in another:
//
//	braid promises 1 crc32c=0a1b2c3d
//	00112233445566778899aabbccddeeff https=sha-256,openpgp 20000
//
//	braid speeds 1
//	mirror.example.net:443 5000000 40000 1800000000
//
// A pin has the name of its entry, the offered evidence, and the day of the last use, counted from 1970. A
// speed has bytes a second, the round trip time in microseconds, and the Unix time of the measurement.
const (
	oldPins   = "braid promises 1 crc32c="
	oldSpeeds = "braid speeds 1\n"
	maxOld    = 1 << 20
)

// Adopt imports the pins or speeds that an earlier release stored in the file at path, and removes the file once all
// entries are on disk. Several programs may do that at once. A damaged file, or a file of another format, is renamed to
// path.bad. The error is the reason why nothing was imported; it is nil if there is no such file. A Store with PinsOnly
// uses the pins and does not remove the file.
func (s *Store) Adopt(path string) error {
	if s == nil || s.Dir == "" {
		return nil
	}
	data, err := fsys.ReadFile(fsys.OS, path, maxOld)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.adopt(path, string(data))
	}
	if err != nil {
		return fmt.Errorf("%s is not imported: %w", path, err)
	}
	return nil
}

// adopt imports text, the content of the file at path.
func (s *Store) adopt(path, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	pins, arePins := parseOldPins(text)
	lines, areSpeeds := strings.CutPrefix(text, oldSpeeds)
	switch {
	case arePins:
		err = s.adoptPins(pins)
	case areSpeeds:
		s.adoptSpeeds(lines)
	default:
		err = errors.New("it is damaged or in another format")
	}
	switch {
	case s.PinsOnly:
		return err
	case !arePins && !areSpeeds:
		return errors.Join(err, os.Rename(path, path+".bad"))
	case err != nil:
		return err
	}
	if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) { // another program was faster
		return nil
	}
	return err
}

// adoptPins adds pins of the old file.
func (s *Store) adoptPins(pins map[string]oldPin) error {
	var added bool
	for name, p := range pins {
		if time.Since(p.used) >= pinned.old {
			continue
		}
		before := s.pin(name)
		err := s.raisePin(name, p.Pin)
		if err != nil && !s.PinsOnly {
			return err
		}
		added = added || err == nil
		if before == (Pin{}) && !s.PinsOnly {
			s.touch(pinned, name, p.used)
		}
	}
	if !added || s.PinsOnly {
		return nil
	}
	return fsys.SyncAll(s.Dir)
}

// An oldPin is a line of the old file of pins.
type oldPin struct {
	Pin
	used time.Time
}

// parseOldPins parses the old file of pins, by the name of their entries. It reports false if the file is damaged.
func parseOldPins(text string) (pins map[string]oldPin, ok bool) {
	head, lines, _ := strings.Cut(text, "\n")
	if head != fmt.Sprintf("%s%08x", oldPins, crc32.Checksum([]byte(lines), crc32.MakeTable(crc32.Castagnoli))) {
		return nil, false
	}
	pins = map[string]oldPin{}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return nil, false
		}
		name, err := hex.DecodeString(words[0])
		days, alsoErr := strconv.ParseUint(words[2], 10, 24)
		if len(name) != 16 || err != nil || alsoErr != nil {
			return nil, false
		}
		p := oldPin{used: time.Unix(int64(days)*int64(day/time.Second), 0)}
		for word := range strings.SplitSeq(words[1], ",") {
			p.add(word)
		}
		pins[hex.EncodeToString(name)] = p
	}
	return pins, true
}

// add adds a word of a line: https=sha-256, http=md5, openpgp, smime or pieces.
func (p *oldPin) add(word string) {
	name, value, _ := strings.Cut(word, "=")
	alg, _ := verify.ParseAlgorithm(value)
	switch name {
	case "https":
		p.HTTPS = alg
	case "http":
		p.HTTP = alg
	case "pieces":
		p.Pieces = true
	}
	for _, kind := range signatures.All() {
		if name == strings.ToLower(wordOf(kind)) {
			p.Signatures |= kindsOf(kind)
		}
	}
}

// adoptSpeeds adds the speeds of hosts without an entry. It ignores malformed lines.
func (s *Store) adoptSpeeds(lines string) {
	for _, line := range strings.SplitN(lines, "\n", speeds.most+1) {
		words := strings.Fields(line)
		if len(words) != 4 {
			continue
		}
		rate, err := strconv.ParseInt(words[1], 10, 64)
		rtt, also := strconv.ParseInt(words[2], 10, 32)
		at, third := strconv.ParseInt(words[3], 10, 40)
		var r speedRecord
		_, known := s.get(speeds, nameOf(words[0]), &r)
		if known || errors.Join(err, also, third) != nil || time.Since(time.Unix(at, 0)) >= speeds.old {
			continue
		}
		if s.put(speeds, nameOf(words[0]), speedRecord{format, rate, time.Duration(rtt) * time.Microsecond}) == nil {
			s.touch(speeds, nameOf(words[0]), time.Unix(at, 0))
		}
	}
}
