//go:build realservers

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A site says what one server on loopback does, in terms that servers have in common.
type site struct {
	root     string       // folder that is served
	rate     int64        // bytes a second for each answer; 0: as fast as it goes
	headers  []string     // "Name: value", added to each answer
	redirect string       // base URL that every request is sent to with 302; "": none
	noETag   bool         // answers carry no ETag
	noRanges bool         // ranges are answered with the whole file
	index    bool         // nginx lists folders
	tls      *certificate // https or ftps with this certificate; nil: http or ftp
	log      string       // where an FTP server tells of logins, and nginx of requests; "": nowhere that anybody looks
	name     string       // what nginx calls itself in the log
	password string       // what an FTP server wants to hear of anonymous; "": anything

	// digests are the SHA-256 (base64) that nginx sends in Digest with a representation, by its ETag: when the file
	// changes, so does the field.
	digests map[string]string
}

// nginxConfig is the whole configuration of an nginx with one site. Its ETag is made of the file's time and
// size, so that all nginx sites over one folder share it, as preferred mirrors must (RFC 6249, section 3.3).
func nginxConfig(s site, dir, addr string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;")
	line("events { worker_connections 256; }\nhttp {")
	for _, module := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		line("%s_temp_path %s;", module, filepath.Join(dir, module))
	}
	line("log_format short '%s $request_method $uri $status $body_bytes_sent';", s.name)
	line("access_log %s short;\nsendfile on;\ndefault_type application/octet-stream;", cmp.Or(s.log, "access.log"))
	line("map $sent_http_etag $digest {")
	for etag, sum := range s.digests {
		line(`'%s' 'SHA-256=%s';`, etag, sum)
	}
	line("}\nserver {\nadd_header Digest $digest always;") // nginx sends no field without a value
	line("root %s;", s.root)
	if s.tls == nil {
		line("listen %s;", addr)
	}
	if s.tls != nil {
		line("listen %s ssl;\nssl_certificate %s;\nssl_certificate_key %s;", addr, s.tls.cert, s.tls.key)
	}
	for _, h := range s.headers {
		name, value, _ := strings.Cut(h, ": ")
		line("add_header %s '%s' always;", name, strings.ReplaceAll(value, "'", `\'`))
	}
	if s.rate > 0 {
		// nginx otherwise sends 2 MiB at once and then pauses.
		line("limit_rate %d;\nsendfile_max_chunk 64k;", s.rate)
	}
	if s.noETag {
		line("etag off;")
	}
	if s.noRanges {
		line("max_ranges 0;")
	}
	if s.index {
		line("autoindex on;")
	}
	if s.redirect != "" {
		line("return 302 %s$uri;", s.redirect)
	}
	line("}\n}")
	return b.String()
}

// nginxETag is the ETag that nginx gives a file.
func nginxETag(modified time.Time, size int) string {
	return fmt.Sprintf(`"%x-%x"`, modified.Unix(), size)
}

// apacheModules are what the configuration below needs and Debian does not build in.
var apacheModules = []string{"mpm_event", "authz_core", "alias", "headers", "env", "ratelimit"}

// apacheConfig is the whole configuration of an Apache with one site.
func apacheConfig(s site, dir, addr string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("ServerRoot %s\nDefaultRuntimeDir %s\nPidFile httpd.pid\nErrorLog error.log", dir, dir)
	line("ServerName 127.0.0.1\nListen %s", addr)
	for _, m := range apacheModules {
		line("LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so", m, m)
	}
	if os.Getuid() == 0 { // Apache refuses to serve as root
		line("User www-data\nGroup www-data")
	}
	line("StartServers 1\nServerLimit 1\nThreadsPerChild 32\nMaxRequestWorkers 32")
	line("DocumentRoot %s\n<Directory />\nRequire all granted\n</Directory>", s.root)
	for _, h := range s.headers {
		name, value, _ := strings.Cut(h, ": ")
		value = strings.NewReplacer(`"`, `\"`, `%`, `%%`).Replace(value)
		line(`Header always add %s "%s"`, name, value)
	}
	if s.rate > 0 {
		line("<Location />\nSetOutputFilter RATE_LIMIT\nSetEnv rate-limit %d\n</Location>", (s.rate+1023)>>10)
	}
	if s.noETag {
		line("FileETag None")
	}
	if s.noRanges {
		line("MaxRanges none")
	}
	if s.redirect != "" {
		line("RedirectMatch 302 ^(/.*)$ %s$1", s.redirect)
	}
	return b.String()
}

// parseSite reads the words of a script's nginx or apache command.
func parseSite(args []string, tls *certificate, path func(string) string) (s site, err error) {
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "root":
			s.root = path(value)
		case "rate":
			s.rate, err = parseSize(value)
		case "header":
			s.headers = append(s.headers, value)
		case "link":
			target, params, _ := strings.Cut(value, ";")
			s.headers = append(s.headers, fmt.Sprintf("Link: <%s>; rel=duplicate; %s", target, params))
		case "digest":
			err = s.addDigests(path(value), digestFields)
		case "mirrorbrain-digest":
			err = s.addDigests(path(value), mirrorBrainFields)
		case "redirect":
			s.redirect = value
		case "password":
			s.password = value
		case "no-etag":
			s.noETag = true
		case "no-ranges":
			s.noRanges = true
		case "tls":
			s.tls = tls
		default:
			err = fmt.Errorf("unknown word %q", arg)
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", strconv.Quote(arg), err)
		}
	}
	return s, nil
}

func (s *site) addDigests(file string, fields func([]byte) []string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s.headers = append(s.headers, fields(data)...)
	return nil
}
