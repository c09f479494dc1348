package main

import (
	"bytes"
	"os"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
	"github.com/rogpeppe/go-internal/testscript"
)

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
