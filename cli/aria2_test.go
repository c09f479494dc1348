package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/agents/aria2c"
	"braid/internal/hint"
)

// Each exit code of a run that told of no error has one of aria2's table.
func TestAria2ExitCodes(t *testing.T) {
	for from, want := range map[int]int{
		exitDone: 0, exitOther: 1, exitUsage: 28, exitLocal: 1, exitNetwork: 6, exitTLS: 1, exitAuth: 24,
		exitProtocol: 22, exitRefused: 22,
		exitNoKey: 32, exitBadSignature: 32, exitMismatch: 32, exitNoEvidence: 32, exitBudget: 6, exitLimit: 5,
		exitSignal + 2: 7, exitSignal + 15: 7,
	} {
		if got := aria2c.New(nil, nil, nil).Code(from != exitDone, exitKind(from)); got != want {
			t.Errorf("exit code %d: %d, want %d", from, got, want)
		}
	}
}

// Messages name the options of aria2c, and none that it does not have.
func TestAria2Words(t *testing.T) {
	for text, want := range map[string]string{
		"x (give a checksum with --sha256 HEX)": "x (give a checksum with --checksum=sha-256=HEX)",
		"give the trusted keys with --key FILE": "",
		"run the same command to go on":         "run the same command to go on",
		hint.Of(&download.Error{Hint: download.HintExists}): "replace the existing file once the " +
			"new one is verified with --allow-overwrite=true, or choose another name with -o NAME",
		hint.Of(&download.Error{Hint: download.HintFTP}): "",
		"check the URL (--max-size SIZE does not)":       "",
		"give a name and password with -u USER:PASSWORD": "give a name and password with " +
			"--http-user and --http-passwd",
		"choose another name with -o; to write to a program or a device, use -o -": "choose another name with -o",
	} {
		if got := aria2c.Words(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Passwords and tokens of aria2's options leave the title of the process.
func TestSecretsOfAria2_Rule62(t *testing.T) {
	for _, words := range [][2]string{{"--http-passwd", "s3cret"}, {"", "--all-proxy-passwd=s3cret"},
		{"", "--rpc-secret=s3cret"}, {"", "--rpc-secre=s3cret"}, {"--http-pa", "s3cret"}, {"", "--header=A: s3cret"}} {
		parts := secretsOf(words[0], words[1])
		if len(parts) != 1 || !strings.HasSuffix(words[1], "s3cret") || strings.Contains(words[1][:parts[0][0]],
			"s3") || parts[0][1] != len(words[1]) {
			t.Errorf("%q: %v", words, parts)
		}
	}
}

// Wrong use says what is wrong, downloads nothing, and is aria2's number 28.
func TestAria2Misuse(t *testing.T) {
	aria2Refuses(t, map[string]string{
		"--header=x":                            "",
		"--split=x http://127.0.0.1:1/":         "usage --split: write a number",
		"--timeout=x http://127.0.0.1:1/":       "usage --timeout: write a time",
		"--max-download-limit=x http://h/a":     "usage --max-download-limit: write a number of bytes",
		"--seed-time=x http://h/a":              "usage --seed-time: write a number of minutes",
		"--file-allocation=x http://h/a":        "usage --file-allocation: write one of none",
		"--max-concurrent-downloads=x http://h": "usage --max-concurrent-downloads: write auto",
		"--checksum=x http://h/a":               "usage --checksum: write ALGORITHM",
		"--all-proxy=socks9://x:1 http://h/a":   "usage all_proxy: ",
		"--enable-rpc --rpc-allow-origin-all":   "usage --rpc-allow-origin-all: without a secret",
	})
}

// aria2Refuses runs command lines, and wants each to end with a message.
func aria2Refuses(t *testing.T, lines map[string]string) {
	t.Setenv("HOME", t.TempDir())
	for words, want := range lines {
		t.Run(words, func(t *testing.T) {
			t.Setenv("all_proxy", "")
			t.Setenv("ALL_PROXY", "")
			var out, err bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a daemon does not end
			defer cancel()
			code := run(ctx, append([]string{"aria2c", "--no-conf"}, strings.Fields(words)...),
				streams{in: strings.NewReader(""), out: &out, err: &err})
			if want == "" {
				want = "usage: no URI"
			}
			if !strings.Contains(err.String(), "braid: "+want) || code != 28 && want != "usage: no URI" {
				t.Error(fmt.Sprint(code), err.String())
			}
		})
	}
}
