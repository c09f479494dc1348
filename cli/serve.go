package cli

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"braid/download"
	"braid/internal/job"
	"braid/internal/listen"
	"braid/internal/problem"
	"braid/serve"
	"braid/verify"
)

type serveCommand struct {
	streams
	mirrorFlags
	signFlags
	Listen         string
	MaxLinks       number
	MaxConnections number
	MirrorOf       string
	NoMeta4        bool
	URL            string
	TLS            serverTLS
	LimitRate      rate
	Quiet, Verbose bool
}

const defaultListen = "127.0.0.1:8080"

func newServe(s streams) (action, targets) {
	v := &serveCommand{streams: s, Listen: defaultListen}
	return v.run, targetsOf(v)
}

func (v *serveCommand) run(ctx context.Context, words []string) error {
	if len(words) != 1 {
		return problem.Misuse("serve", "needs exactly one folder", "see braid serve --help")
	}
	if v.Quiet && v.Verbose {
		return problem.Misuse("-q", "contradicts -v", "")
	}
	if _, _, err := net.SplitHostPort(v.Listen); err != nil {
		return problem.Misuse("--listen "+v.Listen, "is not an address to listen on",
			"write host:port, or :port for all interfaces")
	}
	certificates, err := v.TLS.config()
	if err != nil {
		return err
	}
	log := v.logger()
	options, err := v.options(words[0], log)
	if err != nil {
		return err
	}
	server, err := serve.New(words[0], options)
	if _, ok := errors.AsType[*verify.SignatureError](err); ok {
		return v.signFlags.failure(err)
	}
	if err != nil {
		return serveFailure(words[0], err)
	}
	defer server.Close()
	listener, err := net.Listen("tcp", v.Listen)
	if err != nil {
		return &problem.Problem{
			Kind: download.Other, What: "listen", Where: v.Listen, Why: listen.Reason(err),
			Hint: "choose another address with --listen ADDRESS",
		}
	}
	scheme, web := "http", serve.HTTPServer(server)
	listener = serve.LimitListener(listener, web, int(v.MaxConnections), certificates != nil)
	if certificates != nil {
		scheme, listener = "https", tls.NewListener(listener, certificates)
	}
	if _, err := fmt.Fprintf(v.out, "serving %s at %s\n", words[0], listen.URL(scheme, listener.Addr())); err != nil {
		listener.Close()
		return outputFailure(err)
	}
	return listen.Serve(ctx, web, listener, log)
}

// logger returns a logger for warnings and, with -v, for requests. Its handler quotes characters that could move the
// cursor of a terminal.
func (v *serveCommand) logger() *slog.Logger {
	level := slog.LevelWarn
	switch {
	case v.Quiet:
		level = slog.LevelError
	case v.Verbose:
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(v.streams.err, &slog.HandlerOptions{Level: level}))
}

func (v *serveCommand) options(dir string, log *slog.Logger) (o serve.Options, err error) {
	o = serve.Options{MaxLinks: int(v.MaxLinks), Rate: int64(v.LimitRate), Meta4: !v.NoMeta4, Log: log}
	named, listed, err := v.mirrorFlags.read()
	if err != nil {
		return o, err
	}
	o.Mirrors = append(listed, named...)
	if o.SecretKey, o.Passphrase, err = v.signFlags.read(); err != nil {
		return o, err
	}
	if v.URL != "" {
		if o.URL, err = url.Parse(v.URL); err != nil {
			return o, problem.Misuse("--url "+job.MaskWord(v.URL), "not a URL", "")
		}
	}
	if v.MirrorOf != "" {
		if o.MirrorOf, err = url.Parse(v.MirrorOf); err != nil {
			return o, problem.Misuse("--mirror-of "+job.MaskWord(v.MirrorOf), "not a URL", "")
		}
	}
	o.CacheFile, err = cacheFile(dir)
	if err != nil {
		log.Warn("digests of files are not cached", "error", err)
	}
	return o, nil
}

// cacheFile returns the path of the cache file for digests of the files in dir. Each folder has its own cache file.
func cacheFile(dir string) (string, error) {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	own := job.CacheFolder()
	if own == "" {
		return "", errNoCache
	}
	if err := os.MkdirAll(own, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(own, fmt.Sprintf("digests-%.8x", sha256.Sum256([]byte(folder)))), nil
}

var errNoCache = errors.New("the environment gives no folder for caches")

// serveFailure converts err, an error of [serve.New] for the folder dir, to a problem.
func serveFailure(dir string, err error) *problem.Problem {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return problem.Local("serve", dir, err)
	}
	return problem.Misuse("serve", err.Error(), "see braid serve --help")
}

// serverTLS are the flags for the certificate and the key of a server.
type serverTLS struct{ TLSCert, TLSKey string }

// config returns the server's TLS configuration, or nil if neither flag is given.
func (f *serverTLS) config() (*tls.Config, error) {
	switch {
	case f.TLSCert == "" && f.TLSKey == "":
		return nil, nil
	case f.TLSKey == "":
		return nil, problem.Misuse("--tls-cert", "the private key of this certificate is missing", "--tls-key FILE")
	case f.TLSCert == "":
		return nil, problem.Misuse("--tls-key", "no certificate for this key is given", "--tls-cert FILE")
	}
	pair, err := job.ReadKeyPair("--tls-cert", f.TLSCert, "--tls-key", f.TLSKey)
	if err != nil {
		return nil, err
	}
	// No HTTP/2: clients request ranges of one file over several connections.
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, nil
}
