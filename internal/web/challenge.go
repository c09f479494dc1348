package web

import (
	"encoding/base64"
	"strings"
)

// challenge is one challenge of a WWW-Authenticate field.
type challenge struct {
	scheme     string // in lower case
	params     map[string]string
	*algorithm // algorithm of Digest; nil for Basic
}

// choose returns the strongest supported challenge: Digest with the best algorithm, otherwise Basic.
func choose(fields []string) (best challenge, ok bool) {
	rank := 0
	for _, f := range fields {
		for _, c := range parseChallenges(f) {
			if r := c.strength(); r > rank {
				best, rank = c, r
			}
		}
	}
	return best, rank > 0
}

// isDigest reports whether the scheme is Digest. A login in that scheme does not contain the password.
func (c challenge) isDigest() bool { return c.algorithm != nil }

// stale reports whether the password was right and only the nonce too old.
func (c challenge) stale() bool { return strings.EqualFold(c.params["stale"], "true") }

// strength returns the rank of the challenge, or 0 if it is not supported. It sets the algorithm of a Digest challenge.
func (c *challenge) strength() int {
	switch c.scheme {
	case "basic":
		return 1
	case "digest":
		name := c.params["algorithm"]
		if name == "" {
			name = "MD5" // RFC 7616, section 3.3
		}
		h, ok := algorithms[strings.ToLower(name)]
		qop, given := c.params["qop"]
		if !ok || c.params["nonce"] == "" || given && !offersAuth(qop) {
			return 0
		}
		c.algorithm = &h
		return h.rank
	}
	return 0
}

// offersAuth reports whether a qop list contains "auth". The other value, "auth-int", is for requests with a body.
func offersAuth(list string) bool {
	for word := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(word), "auth") {
			return true
		}
	}
	return false
}

// parseChallenges parses a WWW-Authenticate field. Commas separate both the challenges and the parameters of each
// challenge. The result ends at the first syntax error.
func parseChallenges(field string) (list []challenge) {
	for rest := strings.TrimLeft(field, " \t,"); rest != ""; rest = strings.TrimLeft(rest, " \t,") {
		name, after := consumeToken(rest)
		if name == "" {
			return list
		}
		value, end, isParam := consumeValue(after)
		switch {
		case isParam && len(list) > 0:
			if p := list[len(list)-1].params; p[strings.ToLower(name)] == "" {
				p[strings.ToLower(name)] = value
			}
			rest = end
		case isParam:
			return list // a parameter without a scheme
		default:
			list = append(list, challenge{scheme: strings.ToLower(name), params: map[string]string{}})
			rest = skipToken68(after)
		}
	}
	return list
}

// consumeToken splits s after its leading token (RFC 9110, section 5.6.2).
func consumeToken(s string) (token, rest string) {
	i := 0
	for i < len(s) && s[i] > ' ' && s[i] < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, rune(s[i])) {
		i++
	}
	return s[:i], s[i:]
}

// consumeValue consumes "=" and the value of a parameter. It reports false if s does not begin with "=" and a value.
func consumeValue(s string) (value, rest string, ok bool) {
	s, ok = strings.CutPrefix(strings.TrimLeft(s, " \t"), "=")
	s = strings.TrimLeft(s, " \t")
	if !ok {
		return "", "", false
	}
	if strings.HasPrefix(s, `"`) {
		return consumeQuoted(s)
	}
	value, rest = consumeToken(s)
	return value, rest, value != ""
}

// consumeQuoted consumes a quoted string (RFC 9110, section 5.6.4).
func consumeQuoted(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// skipToken68 skips the token68 of a scheme (RFC 9110, section 11.2). It returns s unchanged if s begins with a
// parameter.
func skipToken68(s string) string {
	word := strings.TrimLeft(s, " \t")
	i := 0
	for i < len(word) && (word[i] >= '0' && word[i] <= '9' || word[i]|0x20 >= 'a' && word[i]|0x20 <= 'z' ||
		strings.IndexByte("-._~+/", word[i]) >= 0) {
		i++
	}
	rest := strings.TrimLeft(word[i:], "=")
	if behind := strings.TrimLeft(rest, " \t"); i > 0 && (behind == "" || behind[0] == ',') {
		return rest
	}
	return s
}

// basic returns the Authorization field of the Basic scheme, which contains the password.
func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
