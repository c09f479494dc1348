package watch

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/textproto"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"braid/internal/job"
	"braid/internal/web"
)

// access holds the request header fields and credentials for reading names and files from a server.
type access struct {
	header         map[string][]string
	user, password string
}

// all returns the header. It adds an Authorization field from user and password unless the header has one.
func (a *access) all() map[string][]string {
	if a.user != "" && a.header["Authorization"] == nil {
		pair := a.user + ":" + a.password
		a.header["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}
	}
	if len(a.header) == 0 {
		return nil
	}
	return a.header
}

// secret adds text to the secrets that must not be printed.
func (b *builder) secret(text string) {
	if text != "" && !slices.Contains(b.config.Secrets, text) {
		b.config.Secrets = append(b.config.Secrets, text)
	}
}

// access builds the header fields and credentials for requests to the URL to. It reads values from the variables and
// files that the table names.
func (b *builder) access(t *accessTable, to string, table ...string) (a access, err error) {
	a.header = map[string][]string{}
	key := func(names ...string) []string { return append(slices.Clone(table), names...) }
	for _, line := range t.Header {
		name, value, ok := strings.Cut(line, ":")
		if err := b.field(&a, name, strings.TrimSpace(value), ok, key("header")); err != nil {
			return a, err
		}
	}
	if b.NoSecrets {
		return a, nil
	}
	for _, from := range b.elsewhere(t) {
		for _, name := range slices.Sorted(maps.Keys(from.fields)) {
			value, err := from.read(from.fields[name], key(from.key, name))
			if err == nil {
				err = b.field(&a, name, value, true, key(from.key, name))
			}
			if err != nil {
				return a, err
			}
		}
	}
	if err := b.once(t, to, key); err != nil {
		return a, err
	}
	return a, b.user(&a, t, key)
}

// elsewhere is a table of header fields whose values are read from variables or files.
type elsewhere struct {
	key    string
	fields map[string]string
	read   func(from string, key []string) (string, error)
}

func (b *builder) elsewhere(t *accessTable) []elsewhere {
	return []elsewhere{{"header-env", t.HeaderEnv, b.variable}, {"header-file", t.HeaderFile, b.content}}
}

// once returns an error if a field or the credentials are set twice, because only one of the two would take effect.
func (b *builder) once(t *accessTable, to string, key func(...string) []string) error {
	from := map[string]string{} // the key that sets each field
	for _, line := range t.Header {
		name, _, _ := strings.Cut(line, ":")
		from[textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))] = "header"
	}
	for _, other := range b.elsewhere(t) {
		for _, name := range slices.Sorted(maps.Keys(other.fields)) {
			if first := from[textproto.CanonicalMIMEHeaderKey(name)]; first != "" {
				return b.wrong("the same field is also set by "+first, "", key(other.key, name)...)
			}
			from[textproto.CanonicalMIMEHeaderKey(name)] = other.key
		}
	}
	user, named := "user-env", ""
	if t.UserEnv == "" {
		user = "user-file"
	}
	if u, err := url.Parse(to); err == nil && u.User != nil {
		named = "the URL already has a user name"
	}
	switch first := from["Authorization"]; {
	case t.UserEnv+t.UserFile == "" && (first == "" || named == ""):
		return nil
	case first != "" && named != "":
		return b.wrong("sets the Authorization field, but "+named, "leave one of the two out", key(first)...)
	case first != "":
		return b.wrong("the Authorization field is also set by "+first, "leave one of the two out", key(user)...)
	case named != "":
		return b.wrong(named, "leave one of the two out", key(user)...)
	}
	return nil
}

// user reads USER:PASSWORD from user-env or user-file.
func (b *builder) user(a *access, t *accessTable, key func(...string) []string) (err error) {
	var pair, from string
	switch {
	case t.UserEnv != "" && t.UserFile != "":
		return b.wrong("cannot be combined with user-env", "", key("user-file")...)
	case t.UserEnv != "":
		from = "user-env"
		pair, err = b.variable(t.UserEnv, key(from))
	case t.UserFile != "":
		from = "user-file"
		pair, err = b.content(t.UserFile, key(from))
	default:
		return nil
	}
	if err != nil {
		return err
	}
	var ok bool
	if a.user, a.password, ok = strings.Cut(pair, ":"); !ok || a.user == "" {
		return b.wrong("must contain USER:PASSWORD", "", key(from)...)
	}
	b.secret(a.password)
	b.secret(base64.StdEncoding.EncodeToString([]byte(pair)))
	return nil
}

// field adds a header field to a. No error contains the value.
func (b *builder) field(a *access, name, value string, ok bool, key []string) error {
	name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
	switch {
	case !ok:
		return b.wrong("is not a header field", "write 'Name: value'", key...)
	case !job.IsToken(name):
		return b.wrong("the name of the field has characters that are not allowed", "write 'Name: value'", key...)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return b.wrong("the value of the field has control characters", "", key...)
	case key[0] == "watch" && key[2] != "header" && web.ForAnyServer(name):
		return b.wrong("this field is sent to mirrors, so its value is not a secret", "header = ['Name: value']", key...)
	}
	a.header[name] = append(a.header[name], value)
	if web.ForAnyServer(name) {
		return nil
	}
	b.secret(value)
	if _, token, ok := strings.Cut(value, " "); ok { // such as Bearer TOKEN
		b.secret(token)
	}
	return nil
}

func (b *builder) variable(name string, key []string) (string, error) {
	value, ok := "", false
	if b.Environment != nil {
		value, ok = b.Environment(name)
	}
	if !ok || value == "" {
		return "", b.wrong(fmt.Sprintf("the variable %q is not set, or empty", name), "", key...)
	}
	if !slices.Contains(b.config.SecretNames, name) {
		b.config.SecretNames = append(b.config.SecretNames, name)
	}
	return value, nil
}

// content returns the content of a file without trailing line ends.
func (b *builder) content(path string, key []string) (string, error) {
	path = b.path(path)
	if b.ReadFile == nil {
		return "", b.wrong("files cannot be read here", "", key...)
	}
	data, err := b.ReadFile(path)
	value := strings.TrimRight(string(data), "\r\n")
	switch {
	case err != nil:
		return "", b.wrong(err.Error(), "", key...)
	case value == "":
		return "", b.wrong(filepath.Base(path)+" is empty", "", key...)
	}
	return value, nil
}
