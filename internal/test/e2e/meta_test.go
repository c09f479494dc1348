package e2e

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
	"github.com/rogpeppe/go-internal/testscript"
)

// clearSign KEY IN OUT puts a cleartext signature by NAME.key around a text.
func clearSign(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "clearsign KEY IN OUT")
	keys, err := openpgp.ReadKeyRing(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	var out bytes.Buffer
	w, err := clearsign.Encode(&out, keys[0].PrivateKey, nil)
	ts.Check(err)
	_, err = io.WriteString(w, ts.ReadFile(args[1]))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), append(out.Bytes(), '\n'), 0o644))
}

// keyPair is "keypair NAME [PASSPHRASE...]": it makes an OpenPGP key and writes what gpg exports of it, NAME.key, locked
// if there is a passphrase, and NAME.pub.
func keyPair(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: keypair NAME [PASSPHRASE...]")
	}
	config := &packet.Config{Algorithm: packet.PubKeyAlgoEd25519}
	e, err := pgp.NewEntity(args[0], "", args[0]+"@example.org", config)
	ts.Check(err)
	var secret, public bytes.Buffer
	ts.Check(e.Serialize(&public))
	if len(args) > 1 {
		ts.Check(e.EncryptPrivateKeys([]byte(strings.Join(args[1:], " ")), config))
	}
	ts.Check(e.SerializePrivateWithoutSigning(&secret, config))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), secret.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pub"), public.Bytes(), 0o644))
}
