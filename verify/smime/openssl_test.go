//go:build realservers

package smime

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "write what openssl makes to testdata/openssl, for the tests that run without it")

// TestRealOpenSSL makes certificates and messages with openssl and judges them by the table of TestRules_Rule49_S7.
func TestRealOpenSSL(t *testing.T) {
	o := newOpenSSL(t)
	o.makeCertificates()
	o.makeMessages()
	made := o.made()
	if *record {
		o.check(os.MkdirAll(recorded, 0o755))
		for name, data := range made {
			o.check(os.WriteFile(filepath.Join(recorded, name), data, 0o644))
		}
	}
	checkRules(t, made)
	t.Run("openssl verifies what the tests build", o.verifiesOurs)
}

// An openssl is a fresh folder in which the command is run.
type openssl struct {
	t   *testing.T
	dir string
}

func newOpenSSL(t *testing.T) *openssl {
	o := &openssl{t: t, dir: t.TempDir()}
	o.write("file", signed)
	o.write("other", "another\n")
	return o
}

func (o *openssl) check(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *openssl) write(name, text string) {
	o.t.Helper()
	o.check(os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o644))
}

// run runs openssl with the words of command, and more.
func (o *openssl) run(command string, more ...string) {
	o.t.Helper()
	cmd := exec.Command("openssl", append(strings.Fields(command), more...)...)
	cmd.Dir = o.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("openssl %s: %v\n%s", command, err, out)
	}
}

// made has the messages and certificates, and no keys.
func (o *openssl) made() map[string][]byte {
	o.t.Helper()
	made := map[string][]byte{}
	for _, pattern := range []string{"*.p7", "*.crt"} {
		paths, err := filepath.Glob(filepath.Join(o.dir, pattern))
		o.check(err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			o.check(err)
			made[filepath.Base(path)] = data
		}
	}
	return made
}

// fits is what certificates for signing files say.
const fits = "keyUsage=critical,digitalSignature extendedKeyUsage=emailProtection"

func (o *openssl) makeCertificates() {
	const authority = "basicConstraints=critical,CA:TRUE keyUsage=critical,keyCertSign,cRLSign"
	o.certificate("root", "", "ec:P-256", 9000, authority)
	o.certificate("elsewhere", "", "ec:P-256", 9000, authority)
	o.certificate("inter", "root", "rsa:2048", 8000, authority)
	o.certificate("brief", "root", "ec:P-256", 20, authority)
	o.certificate("weakca", "root", "rsa:1024", 8000, authority)
	o.certificate("signca", "root", "ec:P-256", 8000, "basicConstraints=critical,CA:TRUE keyUsage=keyCertSign,digitalSignature")

	o.certificate("rsa", "inter", "rsa:2048", 7000,
		fits+" subjectAltName=email:alice@example.org,email:a@example.net subjectKeyIdentifier=hash")
	for _, curve := range []string{"P-224", "P-256", "P-384", "P-521", "secp256k1"} {
		o.certificate(strings.ToLower(curve), "root", "ec:"+curve, 7000, fits)
	}
	o.certificate("short", "root", "rsa:1024", 7000, fits)
	o.certificate("ten", "root", "ec:P-256", 10, fits)
	o.certificate("self", "", "ec:P-256", 7000, fits)
	o.certificate("selfserver", "", "ec:P-256", 7000, "keyUsage=digitalSignature extendedKeyUsage=serverAuth")
	o.certificate("stranger", "elsewhere", "ec:P-256", 7000, fits)
	o.certificate("outlives", "brief", "ec:P-256", 7000, fits)
	o.certificate("underweak", "weakca", "ec:P-256", 7000, fits)
	o.certificate("underleaf", "p-256", "ec:P-256", 7000, fits)
	for name, extensions := range map[string]string{
		"server":   "keyUsage=digitalSignature extendedKeyUsage=serverAuth",
		"code":     "keyUsage=digitalSignature extendedKeyUsage=codeSigning",
		"noeku":    "keyUsage=digitalSignature",
		"any":      "keyUsage=digitalSignature extendedKeyUsage=anyExtendedKeyUsage",
		"odd":      "keyUsage=digitalSignature extendedKeyUsage=1.2.3.4",
		"nonrep":   "keyUsage=nonRepudiation extendedKeyUsage=emailProtection",
		"noku":     "extendedKeyUsage=emailProtection",
		"encipher": "keyUsage=keyEncipherment extendedKeyUsage=emailProtection",
		"critical": fits + " 1.2.3.4=critical,DER:0500",
	} {
		o.certificate(name, "root", "ec:P-256", 7000, extensions)
	}
}

// certificate makes NAME.key and NAME.crt. Without an issuer it is self-signed.
func (o *openssl) certificate(name, issuer, key string, days int, extensions string) {
	o.t.Helper()
	kind, parameter, _ := strings.Cut(key, ":")
	option := map[string]string{"ec": "ec_paramgen_curve:", "rsa": "rsa_keygen_bits:"}[kind] + parameter
	o.run("genpkey -quiet -algorithm " + kind + " -pkeyopt " + option + " -out " + name + ".key")
	o.write(name+".ext", "[e]\n"+strings.ReplaceAll(extensions, " ", "\n")+"\n")
	o.run("req -new -sha256 -key "+name+".key -out "+name+".csr -subj", "/O=braid test/CN="+name)
	sign := "-signkey " + name + ".key"
	if issuer != "" {
		sign = fmt.Sprintf("-CA %s.crt -CAkey %s.key", issuer, issuer)
	}
	o.run(fmt.Sprintf("x509 -req -sha256 -in %s.csr -out %s.crt -days %d -extfile %s.ext -extensions e %s", name, name,
		days, name, sign))
}

func (o *openssl) makeMessages() {
	for _, name := range []string{
		"rsa", "p-224", "p-256", "secp256k1", "short", "ten", "self", "selfserver", "stranger", "root", "signca", "underleaf",
		"server", "code", "noeku", "any", "odd", "nonrep", "noku", "encipher", "critical",
	} {
		o.sign(name+".p7", by(name))
	}
	o.sign("p-384.p7", by("p-384")+" -md sha384")
	o.sign("p-521.p7", by("p-521")+" -md sha512")
	o.sign("chain.p7", by("rsa")+" -certfile inter.crt")
	o.sign("outlives.p7", by("outlives")+" -certfile brief.crt")
	o.sign("underweak.p7", by("underweak")+" -certfile weakca.crt")
	o.sign("nocerts.p7", by("self")+" -nocerts")
	o.sign("fullchain.p7", by("stranger")+" -certfile elsewhere.crt")
	for _, md := range []string{"md5", "sha1", "sha224", "sha384", "sha512", "sha3-256"} {
		o.sign(md+".p7", by("rsa")+" -md "+md+" -certfile inter.crt")
	}
	for name, options := range map[string]string{
		"pss": "", "pss-digest": "rsa_pss_saltlen:digest", "pss-max": "rsa_pss_saltlen:max", "pss-20": "rsa_pss_saltlen:20",
		"pss-0": "rsa_pss_saltlen:0", "pss-mgf1": "rsa_mgf1_md:sha1", "pss-mgf384": "rsa_mgf1_md:sha384",
	} {
		if options != "" {
			options = " -keyopt " + options
		}
		o.sign(name+".p7", by("rsa")+" -certfile inter.crt -keyopt rsa_padding_mode:pss"+options)
	}
	o.sign("pss-sha1.p7", by("rsa")+" -certfile inter.crt -md sha1 -keyopt rsa_padding_mode:pss")
	o.sign("keyid.p7", by("rsa")+" -certfile inter.crt -keyid")
	o.sign("noattr.p7", by("p-256")+" -noattr")
	o.sign("cades.p7", by("p-256")+" -cades")
	o.sign("econtent.p7", by("p-256")+" -econtent_type 1.2.3.4")
	o.sign("opaque.p7", by("p-256")+" -nodetach")
	o.sign("stream.p7", by("p-256")+" -stream")
	o.sign("stream-opaque.p7", by("rsa")+" -certfile inter.crt -nodetach -stream")
	o.sign("both.p7", by("p-256")+" "+by("p-384"))
	o.sign("p-256+stranger.p7", by("p-256")+" "+by("stranger"))
	o.sign("stranger+p-256.p7", by("stranger")+" "+by("p-256"))
	o.sign("server+p-256.p7", by("server")+" "+by("p-256"))
	o.makeForms()
}

// makeForms makes messages in other forms than DER, about other files, and that are not signatures.
func (o *openssl) makeForms() {
	for name, command := range map[string]string{
		"pem.p7":          "cms -sign -outform PEM -in file " + by("p-256"),
		"pkcs7.p7":        "smime -sign -outform PEM -in file " + by("p-256"),
		"mail-opaque.p7":  "cms -sign -outform SMIME -nodetach -in file " + by("p-256"),
		"mail-old.p7":     "smime -sign -outform SMIME -nodetach -in file " + by("p-256"),
		"mail-crlf.p7":    "cms -sign -outform SMIME -crlfeol -nodetach -in file " + by("p-256"),
		"mail-multi.p7":   "cms -sign -outform SMIME -in file " + by("p-256"),
		"other.p7":        "cms -sign -outform DER -in other " + by("p-256"),
		"other-opaque.p7": "cms -sign -outform DER -nodetach -in other " + by("p-256"),
		"data.p7":         "cms -data_create -outform DER -in file",
		"digest.p7":       "cms -digest_create -outform DER -in file",
		"encrypted.p7":    "cms -encrypt -outform DER -in file",
	} {
		recipient := ""
		if name == "encrypted.p7" {
			recipient = " rsa.crt"
		}
		o.run(command + " -binary -out " + name + recipient)
	}
	o.run("crl2pkcs7 -nocrl -certfile root.crt -outform DER -out certificates.p7")
	multi, err := os.ReadFile(filepath.Join(o.dir, "mail-multi.p7"))
	o.check(err)
	parts := bytes.Split(multi, []byte("\n------"))
	o.write("mail.p7", strings.SplitN(string(parts[2]), "\n", 2)[1]) // the signature's own part, as mail programs save it
}

func by(name string) string { return "-signer " + name + ".crt -inkey " + name + ".key" }

// sign makes a message in DER.
func (o *openssl) sign(out, options string) {
	o.t.Helper()
	o.run("cms -sign -binary -in file -outform DER -out " + out + " " + options)
}

// verifiesOurs shows that the messages of TestGuards_Rule49 begin as good ones.
func (o *openssl) verifiesOurs(t *testing.T) {
	w := newWorkshop(t)
	o.write("ours.crt", string(w.rootPEM()))
	o.write("ours.p7", string(w.message(w.signer("ecdsa"), w.signer("rsa")).der()))
	o.run("cms -verify -inform DER -in ours.p7 -binary -content file -CAfile ours.crt -out verified")
}
