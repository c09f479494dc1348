package speeds

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The file has a line for what it is and one for each host: host:port, bytes a second, round trip time in
// microseconds, and when that was, in seconds since 1970. What does not fit is left out.
const header = "braid speeds 1"

const (
	maxRate = 1e12 // bytes a second
	maxRTT  = time.Minute
	maxHost = 260 // a DNS name and a port
)

// parse reads a file. A line that is wrong is as if it were not there; another version is as if nothing were.
func parse(r io.Reader) map[string]entry {
	hosts := map[string]entry{}
	lines := bufio.NewScanner(io.LimitReader(r, maxFile))
	if !lines.Scan() || lines.Text() != header {
		return hosts
	}
	for lines.Scan() && len(hosts) < maxHosts {
		if host, e, ok := parseLine(lines.Text()); ok {
			hosts[host] = e
		}
	}
	return hosts
}

func parseLine(line string) (host string, e entry, ok bool) {
	words := strings.Split(line, " ")
	if len(words) != 4 || words[0] != together && !plain(words[0]) {
		return "", entry{}, false
	}
	var numbers [3]int64
	for i := range numbers {
		n, err := strconv.ParseInt(words[i+1], 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/int64(time.Second) {
			return "", entry{}, false
		}
		numbers[i] = n
	}
	e = entry{
		rate: sane(float64(numbers[0])),
		rtt:  min(time.Duration(min(numbers[1], int64(maxRTT/time.Microsecond)))*time.Microsecond, maxRTT),
		at:   time.Unix(numbers[2], 0),
	}
	return words[0], e, true
}

// sane keeps a rate within what can be.
func sane(rate float64) float64 {
	if math.IsNaN(rate) {
		return 0
	}
	return min(max(rate, 0), maxRate)
}

// plain tells whether a name is one of a host with its port, and nothing that does not belong in a file or a terminal.
func plain(host string) bool {
	if len(host) < 3 || len(host) > maxHost || !strings.Contains(host, ":") {
		return false
	}
	for _, c := range []byte(host) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("@/?#*\\\"'<>", c) >= 0 {
			return false
		}
	}
	return true
}

// format writes a file.
func format(hosts map[string]entry) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, header)
	for _, h := range slices.Sorted(maps.Keys(hosts)) {
		e := hosts[h]
		fmt.Fprintf(&b, "%s %.0f %d %d\n", h, e.rate, e.rtt.Microseconds(), e.at.Unix())
	}
	return b.Bytes()
}

// write replaces the file. It does not wait for the disk: after a loss of power the file may be empty, which means that
// nothing is known.
func write(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // for the user only
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
