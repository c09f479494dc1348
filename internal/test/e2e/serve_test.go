package e2e

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// listening is how "braid serve" says where it is.
var listening = regexp.MustCompile(`(https?)://(127\.0\.0\.1:\d+)`)

// serveFolder is "serve NAME ARG...": it runs braid serve on a free port until the script ends, and sets
// NAME to its URL without a path and NAME_HOST to its host:port.
func serveFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve NAME ARG...")
	}
	serving(ts, args[0], exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0"}, args[1:]...)...))
}

// enableRPC is "enable-rpc NAME ARG...": the same with braid under the name of aria2c as a daemon.
func enableRPC(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: enable-rpc NAME ARG...")
	}
	cmd := exec.Command(binary, append([]string{"--no-conf", "--enable-rpc", "--rpc-listen-port=0"}, args[1:]...)...)
	cmd.Args[0] = "aria2c"
	serving(ts, args[0], cmd)
}

// serving runs a server until the script ends, and sets NAME to the URL that it tells.
func serving(ts *testscript.TestScript, name string, cmd *exec.Cmd) {
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), scriptEnv(ts)
	output, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	ts.Check(cmd.Start())
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		w.Close()
		close(exited)
	}()
	addr := make(chan [2]string, 1)
	go scanAddr(output, addr)
	ts.Defer(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			<-exited
			ts.Logf("%s did not end on SIGTERM", name)
		}
	})
	select {
	case a, ok := <-addr:
		if !ok {
			ts.Fatalf("%s ended without saying where it listens", name)
		}
		ts.Setenv(name, a[0]+"://"+a[1])
		ts.Setenv(name+"_HOST", a[1])
	case <-time.After(2 * time.Minute):
		ts.Fatalf("%s does not say where it listens", name)
	}
}

// scanAddr sends the scheme and the host of the first address that it reads, and reads on so that the writer is never
// stopped. At the end it closes addr.
func scanAddr(output io.Reader, addr chan<- [2]string) {
	defer close(addr)
	found := false
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if m := listening.FindSubmatch(lines.Bytes()); m != nil && !found {
			found = true
			addr <- [2]string{string(m[1]), string(m[2])}
		}
	}
}

// selfSigned is "certificate NAME": it writes a certificate for 127.0.0.1, which is its own authority, to NAME.pem and its key to
// NAME.key.
func selfSigned(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "certificate NAME")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	ts.Check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}
