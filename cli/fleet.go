package cli

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/internal/job"
	"braid/internal/listen"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
)

// fleetFlags are the flags of the connection to a job queue.
type fleetFlags struct {
	Queue, QueueCreds, QueueCA, QueueCert, QueueKey string

	lease duration
}

const embedded = "embedded"

// text returns the value of --queue with secrets masked.
func (f *fleetFlags) text() string {
	if strings.HasPrefix(f.Queue, embedded) {
		return f.Queue
	}
	var places []string
	for word := range strings.SplitSeq(f.Queue, ",") {
		if _, err := url.Parse(word); err != nil { // the comma may be part of a password
			return job.MaskWord(f.Queue[strings.LastIndexByte(f.Queue, '@')+1:])
		}
		places = append(places, job.MaskWord(word))
	}
	return strings.Join(places, ",")
}

// check rejects contradictory flags before any connection is opened.
func (f *fleetFlags) check(command string) error {
	if !jetstream.In {
		return problem.LeftOut("--queue", problem.NoFleet)
	}
	lease := time.Duration(f.lease)
	here := f.Queue == embedded || strings.HasPrefix(f.Queue, embedded+":")
	var url error
	if !here && f.Queue != "" {
		url = jetstream.CheckURL(f.Queue)
	}
	insecure, far := errors.AsType[*jetstream.InsecureError](url)
	switch {
	case f.Queue == "":
		return problem.Misuse(command, "missing queue",
			"give --queue embedded for one machine, or --queue tls://HOST:4222 for several")
	case far:
		return problem.Misuse("--queue "+f.text(), insecure.Error(), "tls://"+insecure.Host)
	case url != nil:
		return problem.Misuse("--queue "+f.text(), "is not the address of a queue", url.Error())
	}
	return firstMisuse([]wrongUse{
		{here && f.QueueCreds+f.QueueCA+f.QueueCert+f.QueueKey != "", "--queue " + f.Queue,
			"this queue takes no credentials or certificates: access to its folder is enough", ""},
		{(f.QueueCert == "") != (f.QueueKey == ""), "--queue-cert", "needs both a certificate and its key",
			"--queue-cert FILE --queue-key FILE"},
		{!here && !strings.Contains(f.Queue, "tls://") && f.QueueCA+f.QueueCert != "", "--queue " + f.text(),
			"certificates apply only to a queue at tls://", "tls://HOST:4222"},
		{lease != 0 && (lease < fleet.ShortestLease || lease > fleet.LongestLease), "--lease",
			"write a time from 5s to 10m", ""},
	})
}

// refuseOthers rejects the flags on the command line that are not in allowed: with --queue, workers download, so flags
// for downloads have no effect.
func refuseOthers(ctx context.Context, allowed []string, hint string) error {
	line := configurationOf(ctx).Line
	for _, name := range slices.Sorted(maps.Keys(line)) {
		if line[name] && !slices.Contains(allowed, name) {
			return problem.Misuse("--"+name, "has no effect with --queue: workers download the files", hint)
		}
	}
	return nil
}

// A fleetQueue is a connection to a job queue. host is the queue's server if this process runs it.
type fleetQueue struct {
	*jetstream.Queue
	host *jetstream.Host
}

// files returns the names of the files that the connection uses: the files given with flags, and the files of an
// embedded queue in the folder that --queue names.
func (f *fleetFlags) files() []string {
	folder, named := strings.CutPrefix(f.Queue, embedded+":")
	if !named {
		folder = ""
	}
	return append(job.OwnNames(folder, "lock", "jetstream", "control"), f.QueueCreds, f.QueueCA, f.QueueCert, f.QueueKey)
}

// open connects to the job queue. It creates a missing queue, except for a command of the form "queue VERB".
func (f *fleetFlags) open(ctx context.Context, command string, log *slog.Logger) (*fleetQueue, error) {
	if err := f.check(command); err != nil {
		return nil, err
	}
	o := jetstream.Options{URL: f.Queue, Name: processName(), Credentials: f.QueueCreds,
		Lease: time.Duration(f.lease), Works: command == "work", There: strings.HasPrefix(command, "queue "), Log: log}
	q := &fleetQueue{}
	var err error
	if rest, here := strings.CutPrefix(f.Queue, embedded); here {
		q.host, err = hostIn(strings.TrimPrefix(rest, ":"), strings.HasPrefix(command, "queue "), log)
	} else {
		o.TLS, err = f.tls()
	}
	if err != nil {
		return nil, err
	}
	o.Host = q.host
	if q.Queue, err = jetstream.Open(ctx, o); err != nil {
		if q.host != nil {
			q.host.Close()
		}
		return nil, f.failure(command, err)
	}
	return q, nil
}

func (q *fleetQueue) Close() {
	q.Queue.Close()
	if q.host != nil {
		q.host.Close()
	}
}

// failure converts err, an error of the job queue, to a problem.
func (f *fleetFlags) failure(command string, err error) error {
	if _, ok := errors.AsType[*problem.Problem](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	x := &problem.Problem{
		Kind: download.Network, What: command, Where: "queue " + f.text(), Why: err.Error(),
		Hint: "check that nats-server -js runs there; for one machine, use --queue embedded, which needs no server",
	}
	if strings.HasPrefix(command, "queue ") {
		x.Where = f.text()
	}
	switch {
	case jetstream.Refused(err):
		x.Kind, x.Hint = download.Auth, "give the credentials with --queue-creds FILE"
	case jetstream.Untrusted(err):
		x.Kind, x.Hint = download.TLS, "give the root certificate of the queue's server with --queue-ca FILE"
		if _, named := errors.AsType[x509.HostnameError](err); named {
			x.Hint = "use a host name of the certificate: --queue tls://NAME:4222"
		}
	case jetstream.Missing(err):
		x.Kind, x.Why, x.Hint = download.Local,
			"the queue does not exist: it was never created, or its server has lost its data",
			"create the queue with --queue of braid work, watch, get or daemon"
	case jetstream.Newer(err):
		x.Kind, x.Hint = download.Refused, "update braid on this machine: the queue was written by a newer version"
	case jetstream.Lacking(err):
		x.Kind, x.Why, x.Hint = download.Refused, "the server stores no jobs, because JetStream is off",
			"start it as nats-server -js, or with jetstream {} in its configuration"
	}
	return x
}

// processName returns the name of this process in the job queue.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
}

// hostIn starts or joins the server of the queue in dir, or in the state folder if dir is "". The argument there makes
// a missing queue an error: commands that show or change a queue do not create one.
func hostIn(dir string, there bool, log *slog.Logger) (*jetstream.Host, error) {
	if dir == "" {
		if job.StateFolder() == "" {
			return nil, problem.Misuse("--queue embedded",
				"missing folder for the queue: neither HOME nor XDG_STATE_HOME is set",
				"--queue embedded:FOLDER")
		}
		dir = filepath.Join(job.StateFolder(), "queue")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, problem.Local("queue", dir, err)
	}
	if there && !jetstream.HasQueue(dir) {
		return nil, &problem.Problem{
			Kind: download.Local, What: "queue", Where: dir, Why: "the queue does not exist",
			Hint: "create the queue with --queue of braid work, watch, get or daemon",
		}
	}
	h, err := jetstream.NewHost(dir, jetstream.Socket{Listen: listen.Socket, Dial: listen.Dial}, log)
	if err != nil {
		return nil, problem.Local("queue", dir, err)
	}
	return h, nil
}

// tls returns the TLS configuration for a remote queue, or nil if the connection uses no TLS.
func (f *fleetFlags) tls() (*tls.Config, error) {
	if f.QueueCreds != "" {
		// the library would report a missing file as a connection error
		if _, err := os.Stat(f.QueueCreds); err != nil {
			return nil, problem.Local("credentials", f.QueueCreds, err)
		}
	}
	if !strings.Contains(f.Queue, "tls://") {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.QueueCA != "" {
		data, err := os.ReadFile(f.QueueCA)
		if err != nil {
			return nil, problem.Local("certificates", f.QueueCA, err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, problem.Misuse("--queue-ca "+f.QueueCA, "the file has no certificate", "give certificates in PEM form")
		}
	}
	if f.QueueCert != "" {
		pair, err := tls.LoadX509KeyPair(f.QueueCert, f.QueueKey)
		if err != nil {
			return nil, problem.Misuse("--queue-cert "+f.QueueCert, err.Error(), "")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
