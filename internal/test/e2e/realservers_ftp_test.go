//go:build realservers

package e2e

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"braid/byterange"
	"braid/internal/test/mirrortest"
	"braid/source"
	"braid/source/ftpsource"
)

var (
	vsftpd = program{
		command: "vsftpd", scheme: "ftp",
		args:   func(conf string) []string { return []string{conf} },
		config: vsftpdConfig,
	}
	proftpd = program{
		command: "proftpd", scheme: "ftp",
		args:   func(conf string) []string { return []string{"--nodaemon", "--config", conf} },
		config: proftpdConfig,
	}
)

// vsftpdConfig is the whole configuration of a vsftpd with one site for anonymous users, who are somebody whose home
// exists. Its own sandbox does not work in others.
func vsftpdConfig(s site, dir, addr string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	host, port, _ := strings.Cut(addr, ":")
	empty := filepath.Join(dir, "empty")
	os.Mkdir(empty, 0o555) // a failure shows in its log
	line("listen=YES\nlisten_address=%s\nlisten_port=%s\npasv_address=%s\nbackground=NO\nseccomp_sandbox=NO", host, port, host)
	line("anonymous_enable=YES\nlocal_enable=NO\nanon_root=%s\nftp_username=daemon\nsecure_chroot_dir=%s", s.root, empty)
	line("xferlog_enable=YES\nvsftpd_log_file=%s", cmp.Or(s.log, filepath.Join(dir, "error.log")))
	if os.Getuid() != 0 {
		line("run_as_launching_user=YES")
	}
	if s.rate > 0 {
		line("anon_max_rate=%d", s.rate)
	}
	if s.password != "" {
		words := filepath.Join(dir, "passwords")
		os.WriteFile(words, []byte(s.password+"\n"), 0o600) // a failure shows in its log
		line("secure_email_list_enable=YES\nemail_password_file=%s", words)
	}
	if s.tls != nil { // data connections have to go on with the session of their control connection
		line("ssl_enable=YES\nallow_anon_ssl=YES\nforce_anon_logins_ssl=YES\nforce_anon_data_ssl=YES\nrequire_ssl_reuse=YES")
		line("ssl_ciphers=HIGH\nrsa_cert_file=%s\nrsa_private_key_file=%s", s.tls.cert, s.tls.key)
	}
	return b.String()
}

// proftpdConfig is the same for ProFTPD, whose modules lie beside it where it is not installed.
func proftpdConfig(s site, dir, addr string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	host, port, _ := strings.Cut(addr, ":")
	line("ServerType standalone\nDefaultAddress %s\nPort %s\nUseIPv6 off", host, port)
	if os.Getuid() == 0 {
		line("User nobody\nGroup nogroup")
	}
	line("PidFile %s/pid\nScoreboardFile %s/scoreboard\nDelayTable %s/delay\nSystemLog %s/error.log", dir, dir, dir, dir)
	if s.log != "" {
		line("ExtendedLog %s AUTH", s.log)
	}
	line("TransferLog none\nWtmpLog off\nUseReverseDNS off\nRequireValidShell off")
	if modules := os.Getenv("PROFTPD_MODULES"); modules != "" { // see scripts/test
		line("ModulePath %s", modules)
	}
	if s.tls != nil {
		line("LoadModule mod_tls.c\nTLSEngine on\nTLSRequired on\nTLSLog %s/tls.log", dir)
		line("TLSECCertificateFile %s\nTLSECCertificateKeyFile %s", s.tls.cert, s.tls.key)
	}
	line("<Anonymous %s>\nUser nobody\nGroup nogroup\nUserAlias anonymous nobody\nRequireValidShell off\nUseFtpUsers off", s.root)
	if s.password != "" {
		crypt := exec.Command("openssl", "passwd", "-6", "-stdin")
		crypt.Stdin = strings.NewReader(s.password)
		crypted, _ := crypt.Output() // likewise
		line("AnonRequirePassword on\nUserPassword nobody %s", crypted)
	}
	line("<Limit WRITE>\nDenyAll\n</Limit>")
	if s.rate > 0 {
		line("TransferRate RETR %d", s.rate>>10)
	}
	line("</Anonymous>")
	return b.String()
}

// TestRealFTPRanges: real servers are left in the middle of a file, and stay in order: a control connection serves
// several ranges (rule 38).
func TestRealFTPRanges(t *testing.T) {
	t.Parallel()
	root := publicDir(t)
	file := mirrortest.Generate(32<<20, 1)
	if err := os.WriteFile(filepath.Join(root, "a.iso"), file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	cert := newCertificate(t)
	pem, err := os.ReadFile(cert.authority)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	for _, p := range []program{vsftpd, proftpd} {
		for scheme, s := range map[string]site{"ftp": {}, "ftps": {tls: cert}} {
			t.Run(p.command+" "+scheme, func(t *testing.T) {
				s.root, s.log = root, filepath.Join(publicDir(t), "log")
				addr := p.start(t, s)
				c := &ftpsource.Client{TLS: &tls.Config{RootCAs: roots}, CloseTimeout: time.Minute} // for busy servers
				src := c.Source(&url.URL{Scheme: scheme, Host: addr, Path: "/a.iso"}, ftpsource.Options{Mirror: true})
				broken := 0
				for _, start := range []int64{0, 16 << 20, 32<<20 - 10, 5} {
					broken += fetchRange(t, src, file, byterange.Range{Start: start, End: min(start+1<<20, file.Size())})
				}
				c.CloseIdle()
				// The tests of package ftpsource count exactly. Here, a busy server may also end one session unnoticed.
				if n := sessions(t, s.log); n-broken > 2 {
					t.Errorf("%d control connections, want at most %d", n, 2+broken)
				}
			})
		}
	}
}

// sessions counts those that an FTP server has logged, without that of awaitAccept.
func sessions(t *testing.T, log string) int {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return len(regexp.MustCompile(`OK LOGIN|"PASS `).FindAll(data, -1))
}

// fetchRange wants the bytes of a range, and no more. Like a download, it tries again if the server broke off before its
// answer, as vsftpd does now and then on a busy machine. It returns how often that happened.
func fetchRange(t *testing.T, src source.Source, file mirrortest.Content, r byterange.Range) (broken int) {
	t.Helper()
	k := &collector{}
	err := src.Fetch(t.Context(), r, k)
	if e, ok := errors.AsType[*source.Error](err); ok && e.Retry && k.data == nil {
		t.Logf("%v: %v", r, err)
		broken++
		err = src.Fetch(t.Context(), r, k)
	}
	if err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	want, err := io.ReadAll(io.NewSectionReader(file, r.Start, r.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if k.answer.Size != file.Size() || k.answer.LastModified.IsZero() || !k.answer.Ranged || !bytes.Equal(k.data, want) {
		t.Errorf("%v: answer %+v, %d bytes", r, k.answer, len(k.data))
	}
	return broken
}

// A collector is a sink that keeps everything.
type collector struct {
	answer source.Answer
	data   []byte
}

func (k *collector) Answer(a source.Answer) error {
	k.answer = a
	return nil
}

func (k *collector) WriteAt(p []byte, _ int64) (int, error) {
	k.data = append(k.data, p...)
	return len(p), nil
}
