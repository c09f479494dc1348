package sshsig

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"braid/internal/mask"
)

// mostKeys is the maximum number of keys in a file.
const mostKeys = 10_000

// A Key is a trusted public key, with the limits from a file of allowed signers.
type Key struct {
	public        ssh.PublicKey
	signer        string    // the key's principals, or the comment of the public key
	after, before time.Time // when the key is valid; zero: without a limit
	elsewhere     bool      // the key may sign only in other namespaces
}

// ParseKeys parses a file of public keys, as ssh-keygen writes them, or of allowed signers. It ignores the names of the
// principals: each listed key may sign.
func ParseKeys(data []byte) (keys []Key, err error) {
	if bytes.Contains(data, []byte("PRIVATE KEY-----")) {
		return nil, errors.New("this is a private key, not a public one")
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if len(keys) == mostKeys {
			return nil, fmt.Errorf("the file has more than %d keys", mostKeys)
		}
		k, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, errors.New("the file has no key")
	}
	return keys, nil
}

func parseLine(line string) (k Key, err error) {
	principals, rest, quoted := "", line, strings.HasPrefix(line, `"`)
	switch {
	case isAlgorithm(word(line)):
	case quoted:
		principals, rest, _ = strings.Cut(line[1:], `"`)
	default:
		principals = word(line)
		rest = line[len(principals):]
	}
	public, comment, options, after, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(rest)))
	switch {
	case err != nil || len(after) > 0:
		return k, errors.New("this is neither an SSH public key nor an allowed signer")
	case principals == "" && len(options) > 0:
		return k, errors.New("the key has options, but no principals")
	case isOption(principals):
		return k, fmt.Errorf("the option %s is in the place of the principals", mask.Quote(principals, 100))
	case !strings.Contains(","+principals, ",!"):
	case !slices.ContainsFunc(strings.Split(principals, ","), func(p string) bool { return !strings.HasPrefix(p, "!") }):
		return k, errors.New("its list of principals matches nothing")
	}
	if _, isCertificate := public.(*ssh.Certificate); isCertificate {
		return k, errors.New("this is a certificate, not a key")
	}
	k = Key{public: public, signer: principals}
	if principals == "" {
		k.signer = comment
	}
	seen := map[string]bool{}
	for _, option := range options {
		name, _, _ := strings.Cut(strings.ToLower(option), "=")
		if seen[name] {
			return k, fmt.Errorf("the option %s appears twice", mask.Quote(name, 100))
		}
		seen[name] = true
		if err := k.limit(option); err != nil {
			return k, err
		}
	}
	if n := bitsOfRSA(public); n > 0 && n < leastRSA {
		return k, fmt.Errorf("the RSA key has %d bits, want %d or more", n, leastRSA)
	}
	return k, nil
}

// isOption reports whether the first field of a line looks like options of an allowed signer or of a login key
// (sshd(8), "AUTHORIZED_KEYS FILE FORMAT"). ssh-keygen would take them for a principal and ignore them.
func isOption(principals string) bool {
	switch first, _, _ := strings.Cut(strings.ToLower(principals), ","); first {
	case "cert-authority", "restrict", "no-touch-required", "verify-required", "pty", "no-pty", "agent-forwarding",
		"no-agent-forwarding", "port-forwarding", "no-port-forwarding", "x11-forwarding", "no-x11-forwarding",
		"user-rc", "no-user-rc":
		return true
	}
	return strings.Contains(principals, "=")
}

// word returns the part of line before the first white space.
func word(line string) string {
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i]
	}
	return line
}

// isAlgorithm reports whether s names the algorithm of a key.
func isAlgorithm(s string) bool {
	return s == ssh.KeyAlgoRSA || s == dsa ||
		algorithms[s] && s != ssh.KeyAlgoRSASHA256 && s != ssh.KeyAlgoRSASHA512
}

// limit applies an option of an allowed signer to k.
func (k *Key) limit(option string) (err error) {
	name, value, _ := strings.Cut(option, "=")
	value = strings.Trim(value, `"`)
	switch strings.ToLower(name) {
	case "namespaces":
		k.elsewhere = !matches(value, namespace)
	case "valid-after":
		k.after, err = parseTime(value)
	case "valid-before":
		k.before, err = parseTime(value)
	case "cert-authority":
		return errors.New("cert-authority: certificates are not supported")
	default:
		return fmt.Errorf("the option %s is not supported", mask.Quote(name, 100))
	}
	return err
}

// matches reports whether name matches patterns, a list (ssh_config(5), "PATTERNS").
func matches(patterns, name string) bool {
	matched := false
	for p := range strings.SplitSeq(patterns, ",") {
		p, negated := strings.CutPrefix(strings.TrimSpace(p), "!")
		if strings.ContainsAny(p, `[\`) {
			continue // "file" has neither character, and package path gives them meanings
		}
		switch ok, _ := path.Match(p, name); {
		case ok && negated:
			return false
		case ok:
			matched = true
		}
	}
	return matched
}

// parseTime parses a time of an allowed signer, YYYYMMDD[HHMM[SS]][Z]. Without Z, the time is local.
func parseTime(s string) (time.Time, error) {
	digits, utc := strings.CutSuffix(strings.ToUpper(s), "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	layouts := []string{"20060102", "200601021504", "20060102150405"}
	if i := slices.IndexFunc(layouts, func(l string) bool { return len(l) == len(digits) }); i >= 0 {
		if t, err := time.ParseInLocation(layouts[i], digits, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s is not a time such as 20261231 or 202612312359Z", mask.Quote(s, 100))
}
