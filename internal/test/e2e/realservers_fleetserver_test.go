//go:build realservers

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"braid/internal/test/gotool"
	"braid/internal/test/ports"
)

// A natsCluster is one nats-server, or several, with TLS and credentials.
type natsCluster struct {
	t     *testing.T
	dir   string
	urls  []string
	procs []*exec.Cmd
	path  string
	confs []string
}

// flags are those of a client.
func (c *natsCluster) flags() []string {
	return []string{"--queue", strings.Join(c.urls, ","), "--queue-creds", filepath.Join(c.dir, "user.creds"),
		"--queue-ca", filepath.Join(c.dir, "cert.pem")}
}

// newNATS starts as many servers, of scripts/go.mod's version.
func newNATS(t *testing.T, nodes int) *natsCluster {
	path, err := gotool.Path("nats-server")
	if err != nil {
		t.Fatal(err)
	}
	c := &natsCluster{t: t, dir: t.TempDir(), path: path}
	c.certificate()
	operator := c.credentials()
	addrs, routes := []string{}, []string{}
	for range nodes {
		addrs = append(addrs, ports.Free(t))
		routes = append(routes, ports.Free(t))
	}
	for i, addr := range addrs {
		conf := fmt.Sprintf("server_name: n%d\nlisten: %q\njetstream { store_dir: %q, sync_interval: always }\ntls { "+
			"cert_file: %q, key_file: %q, timeout: 60 }\n%s",
			i, addr, filepath.Join(c.dir, fmt.Sprint("store", i)), filepath.Join(c.dir, "cert.pem"),
			filepath.Join(c.dir, "key.pem"), operator)
		if nodes > 1 {
			conf += fmt.Sprintf("cluster { name: fleet, listen: %q, routes: [%q] }\n", routes[i],
				"nats://"+strings.Join(routes, `", "nats://`))
			conf = strings.ReplaceAll(conf, `\"`, `"`)
		}
		c.confs = append(c.confs, filepath.Join(c.dir, fmt.Sprintf("n%d.conf", i)))
		if err := os.WriteFile(c.confs[i], []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		c.urls = append(c.urls, "tls://"+addr)
		c.procs = append(c.procs, nil)
		c.start(i)
	}
	t.Cleanup(func() {
		for i := range c.procs {
			c.kill(i)
		}
		if data, _ := os.ReadFile(filepath.Join(c.dir, "n0.log")); t.Failed() {
			t.Logf("nats-server:\n%s", data[max(0, len(data)-4000):])
		}
	})
	return c
}

func (c *natsCluster) start(i int) {
	c.t.Helper()
	cmd := exec.Command(c.path, "-c", c.confs[i], "-l", filepath.Join(c.dir, fmt.Sprintf("n%d.log", i)))
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.procs[i] = cmd
	addr := strings.TrimPrefix(c.urls[i], "tls://")
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			data, _ := os.ReadFile(filepath.Join(c.dir, fmt.Sprintf("n%d.log", i)))
			c.t.Fatalf("nats-server does not listen: %v\n%s", err, data)
		}
	}
}

func (c *natsCluster) kill(i int) {
	c.procs[i].Process.Kill()
	c.procs[i].Wait()
}

// certificate makes one that is its own root.
func (c *natsCluster) certificate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	is := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nats"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, is, is, key.Public(), key)
	if err != nil {
		c.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	c.write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

func (c *natsCluster) write(name string, data []byte) {
	if err := os.WriteFile(filepath.Join(c.dir, name), data, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// credentials makes an operator with an account and a user, whose credentials are in user.creds. Those in other.creds
// are of another operator.
func (c *natsCluster) credentials() (config string) {
	must := func(err error) {
		if err != nil {
			c.t.Fatal(err)
		}
	}
	var account, system string
	var conf strings.Builder
	for _, name := range []string{"other", "user"} {
		op, err := nkeys.CreateOperator()
		must(err)
		opKey, _ := op.PublicKey()
		claims := jwt.NewOperatorClaims(opKey)
		sys, err := nkeys.CreateAccount()
		must(err)
		acc, err := nkeys.CreateAccount()
		must(err)
		system, _ = sys.PublicKey()
		account, _ = acc.PublicKey()
		claims.SystemAccount = system
		operator, err := claims.Encode(op)
		must(err)
		ofAccount := jwt.NewAccountClaims(account)
		ofAccount.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		accountJWT, err := ofAccount.Encode(op)
		must(err)
		systemJWT, err := jwt.NewAccountClaims(system).Encode(op)
		must(err)
		user, err := nkeys.CreateUser()
		must(err)
		userKey, _ := user.PublicKey()
		userJWT, err := jwt.NewUserClaims(userKey).Encode(acc)
		must(err)
		seed, err := user.Seed()
		must(err)
		creds, err := jwt.FormatUserConfig(userJWT, seed)
		must(err)
		c.write(name+".creds", creds)
		conf.Reset()
		fmt.Fprintf(&conf, "operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %s: %s, %s: %s }\n",
			operator, system, account, accountJWT, system, systemJWT)
	}
	return conf.String()
}

// TestRealFleetServer: a fleet with nats-server, by TLS and credentials, goes on when the server was killed; without
// either it is refused, and told so.
func TestRealFleetServer(t *testing.T) {
	t.Parallel()
	c := newNATS(t, 1)
	f := newFleetRig(t, c.flags()...)
	f.lease = "5s" // the next server's workers wait for the leases of those before
	for _, tt := range []struct {
		flags []string
		code  int
		want  string
	}{
		{[]string{"--queue", c.urls[0], "--queue-ca", filepath.Join(c.dir, "cert.pem")}, 6,
			"give the credentials with --queue-creds FILE"},
		{[]string{"--queue", c.urls[0], "--queue-ca", filepath.Join(c.dir, "cert.pem"), "--queue-creds",
			filepath.Join(c.dir, "other.creds")}, 6, "give the credentials with --queue-creds FILE"},
		{[]string{"--queue", c.urls[0], "--queue-creds", filepath.Join(c.dir, "user.creds")}, 5,
			"give the root certificate of the queue's server with --queue-ca FILE"},
		{[]string{"--queue", strings.Replace(c.urls[0], "tls:", "nats:", 1), "--queue-creds",
			filepath.Join(c.dir, "user.creds")}, 5, ""},
		{[]string{"--queue", c.urls[0], "--queue-creds", filepath.Join(c.dir, "none")}, 3, "no such file"},
	} {
		cmd := exec.Command(binary, append([]string{"queue", "list"}, tt.flags...)...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.Contains(string(out), tt.want) {
			t.Errorf("%q: exit code %d, want %d; %s", tt.flags, code, tt.code, out)
		}
	}
	f.breaking(c)
}

// breaking kills every server of c, one after the other, while files come.
func (f *fleetRig) breaking(c *natsCluster) {
	f.t.Helper()
	f.watcher("watcher-a")
	f.watcher("watcher-b")
	f.worker()
	f.worker()
	var all []string
	for i := range c.procs {
		names := numbered(fmt.Sprintf("n%d-", i), 8)
		f.publish(20_000, false, names...)
		all = append(all, names...)
		f.await("some of them", func() bool { return f.right(names[0]) })
		c.kill(i)
		more := numbered(fmt.Sprintf("m%d-", i), 3)
		f.publish(20_000, false, more...)
		all = append(all, more...)
		time.Sleep(2 * time.Second) // without it
		c.start(i)
		f.await("all of them", func() bool { return f.right(all...) })
	}
	f.await("all is done", func() bool {
		for _, j := range f.jobs() {
			if j.State != "done" {
				return false
			}
		}
		return true
	})
}

// TestFleetCluster: a fleet with three servers goes on when each of them is killed. It is for scripts/nightly.
func TestFleetCluster(t *testing.T) {
	c := newNATS(t, 3)
	f := newFleetRig(t, c.flags()...)
	f.breaking(c)
}
