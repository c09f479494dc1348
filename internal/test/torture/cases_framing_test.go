//go:build linux

package torture

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"braid/internal/test/mirrortest"
)

type option = mirrortest.Option

// alone is one server that has the file and misbehaves.
func alone(options ...option) func(*world) {
	return func(w *world) { w.ask(w.serve(options...)) }
}

// proven is the same with the right digest on the command line.
func proven(options ...option) func(*world) {
	return func(w *world) {
		w.ask(w.serve(options...))
		w.req.sha256 = w.hex()
	}
}

// spoken is one server that answers with a head as it is, and the file as it is.
func spoken(head string) func(*world) {
	return func(w *world) { w.ask(w.serve(words(w, head))) }
}

// words answers with a head and the file.
func words(w *world, head string) option {
	head = strings.ReplaceAll(head, "SIZE", fmt.Sprint(len(w.body)))
	head = strings.ReplaceAll(head, "DIGEST", w.base64())
	return mirrortest.Raw(func(c net.Conn) {
		io.WriteString(c, head)
		c.Write(w.body) // a client that left needs no body
	})
}

// flood answers with a head, and then the same again until the client has had enough.
func flood(head, again string) option {
	return mirrortest.Raw(func(c net.Conn) {
		io.WriteString(c, head)
		pour(c, again)
	})
}

// pour writes something again and again, for half a minute at most.
func pour(c net.Conn, again string) {
	c.SetDeadline(time.Now().Add(30 * time.Second))
	block := []byte(strings.Repeat(again, 1+(64<<10)/len(again)))
	for {
		if _, err := c.Write(block); err != nil {
			return
		}
	}
}

// drip writes something slowly, for half a minute at most.
func drip(head, again string) option {
	return mirrortest.Raw(func(c net.Conn) {
		io.WriteString(c, head)
		for range 150 {
			if _, err := io.WriteString(c, again); err != nil {
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
	})
}

const ok = "HTTP/1.1 200 OK\r\n"

// framings are answers whose length is not what it seems.
func framings() []torment {
	chunked := ok + "Transfer-Encoding: chunked\r\n\r\n"
	return []torment{
		{"17", "says two lengths", alone(mirrortest.ContentLength("3145728", "3145729")), fails(7, "Content-Length")},
		{"17", "says one length twice", alone(mirrortest.ContentLength("3145728", "3145728")), isUnverified},
		{"17", "says two lengths in one field", spoken(ok + "Content-Length: SIZE, 5\r\n\r\n"), fails(7, "Content-Length")},
		{"17", "says a length and chunks", spoken(ok + "Content-Length: SIZE\r\nTransfer-Encoding: chunked\r\n\r\n"),
			fails(7, "both Content-Length and Transfer-Encoding")},
		{"17", "says a negative length", alone(mirrortest.ContentLength("-1")), fails(7, "Content-Length")},
		{"17", "says a length with a plus", alone(mirrortest.ContentLength("+3145728")), fails(7, "Content-Length")},
		{"17", "says a length in hex", alone(mirrortest.ContentLength("0x300000")), fails(7, "Content-Length")},
		{"17", "says a length that is a word", alone(mirrortest.ContentLength("many")), fails(7, "Content-Length")},
		{"17", "says an empty length", alone(mirrortest.ContentLength("")), fails(7, "Content-Length")},
		{"17", "says a length beyond 64 bits", alone(mirrortest.ContentLength("18446744073709551617")),
			fails(7, "Content-Length")},
		{"7", "says a length beyond every disk", alone(mirrortest.ContentLength("9223372036854775807")),
			fails(3, "file system has")},
		{"17", "sends a chunk size beyond 64 bits", spoken(chunked + "fffffffffffffffff\r\n"), fails(7, "chunk")},
		{"17", "sends a negative chunk size", spoken(chunked + "-5\r\n"), fails(7, "chunk")},
		{"17", "sends a chunk size that is a word", spoken(chunked + "lots\r\n"), fails(7, "chunk")},
		{"17", "sends no line end after a chunk", spoken(chunked + "5\r\nhelloXX"), fails(7, "chunk")},
		{"17", "leaves out the last chunk", alone(mirrortest.NoLastChunk()), fails(4, "unexpected EOF")},
		{"17", "leaves out the last chunk, with a digest", proven(mirrortest.NoLastChunk()), isRight},
		{"17", "leaves out the last chunk, with a digest, and honours no ranges", proven(mirrortest.NoLastChunk(),
			mirrortest.IgnoreRange()), isRight},
		{"17", "leaves out the last chunk, with a digest of another file", func(w *world) {
			w.req.sha256 = anotherDigest().Hex()
			w.ask(w.serve(mirrortest.NoLastChunk()))
		}, fails(11, "sha-256")},
		{"17", "sends an endless chunk extension", alone(flood(chunked+"5;", "x")), fails(7, "")},
		{"17", "sends chunk extensions without end", alone(flood(chunked, "1;"+strings.Repeat("x", 2000)+"\r\na\r\n")),
			fails(7, "")},
		{"20", "sends trailers without end", alone(flood(chunked+"5\r\nhello\r\n0\r\n", "X-Trailer: y\r\n")), fails(7, "")},
		{"17", "sends gzip as a transfer coding", spoken(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n"), fails(7, "")},
		{"17", "sends an unknown transfer coding", spoken(ok + "Transfer-Encoding: identity\r\n\r\n"), fails(7, "")},
		{"15", "sends bytes behind the body", alone(mirrortest.BodyLonger(70)), isUnverified},
		{"15", "sends bytes behind the body, with a digest", proven(mirrortest.BodyLonger(70)), isRight},
		{"15", "cuts each answer after nothing", alone(mirrortest.CutAfter(0)), fails(4, "")},
		{"15", "cuts the first answer, and has a strong validator", alone(mirrortest.ETag(`"v"`),
			mirrortest.Once(mirrortest.CutAfter(9000))), isUnverified},
		{"15", "cuts the first answer, and has a weak validator", alone(mirrortest.ETag(`W/"v"`),
			mirrortest.Once(mirrortest.CutAfter(9000))), isUnverified},
		{"15", "cuts the first answer, and has no validator", alone(mirrortest.Once(mirrortest.CutAfter(9000))), isUnverified},
		{"15", "cuts the first answer, and honours no ranges", proven(mirrortest.IgnoreRange(),
			mirrortest.Once(mirrortest.CutAfter(9000))), isRight},
		{"15", "cuts every answer after 9000 bytes, and honours no ranges", proven(mirrortest.IgnoreRange(),
			mirrortest.CutAfter(9000)), fails(13, "kept in|ends at byte 9000")},
		{"22", "resets each connection after some bytes", proven(mirrortest.ETag(`"v"`),
			mirrortest.ResetAfter(1_000_000)), isRight},
		{"22", "cuts each answer after some bytes", proven(mirrortest.ETag(`"v"`), mirrortest.CutAfter(1_000_000)), isRight},
		{"22", "resets each connection at once", alone(mirrortest.ResetAfter(0)), fails(4, "")},
		{"15", "sends a body to the end of the connection", alone(mirrortest.UntilClose()), isUnverified},
		{"15", "sends a body to the end of the connection, cut, with a digest", proven(mirrortest.UntilClose(),
			mirrortest.CutAfter(900_000)), isRight},
		{"15", "has an empty file, with a digest of another", func(w *world) {
			w.req.sha256 = w.hex()
			w.ask(w.serve(mirrortest.RawString(ok + "Content-Length: 0\r\n\r\n")))
		}, fails(11, "")},
	}
}

// heads are header sections that nobody should believe, or hold in memory.
func heads() []torment {
	good := ok + "Content-Length: SIZE\r\n\r\n"
	return []torment{
		{"20", "sends 20 answers of status 103 before the answer", alone(mirrortest.Informational(20)), isUnverified},
		{"20", "sends 21 answers of status 103 before the answer", alone(mirrortest.Informational(21)),
			fails(14, "informational")},
		{"20", "sends answers of status 100 without end", alone(flood("", "HTTP/1.1 100 Continue\r\n\r\n")),
			fails(14, "informational")},
		{"20", "sends answers of status 102 without end, with fields",
			alone(flood("", "HTTP/1.1 102 Processing\r\nX: "+strings.Repeat("y", 9000)+"\r\n\r\n")), fails(14, "informational")},
		{"20", "changes the protocol", spoken("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: " +
			"Upgrade\r\n\r\n"), fails(8, "101")},
		{"20", "sends a header section of 300 KiB", alone(mirrortest.HugeHeader(300 << 10)), fails(14, "256 KiB")},
		{"20", "sends a header section of 200 KiB", alone(mirrortest.HugeHeader(200 << 10)), isUnverified},
		{"20", "sends 5000 header fields", alone(mirrortest.ManyFields(5000)), fails(14, "4000 header fields")},
		{"20", "sends header fields without end", alone(flood(ok, "X-Field: value\r\n")), fails(14, "256 KiB")},
		{"20", "sends one header field without end", alone(flood(ok+"X-Field: ", "x")), fails(14, "256 KiB")},
		{"20", "sends a status line without end", alone(flood("HTTP/1.1 200 ", "O")), fails(14, "256 KiB")},
		{"20", "sends empty bytes without end", alone(flood("", "\x00")), fails(14, "")},
		{"20", "sends empty lines without end", alone(flood("", "\r\n")), fails(7, "")},
		{"20", "sends continued lines without end", alone(flood(ok+"X: a", "\r\n b")), fails(14, "256 KiB")},
		{"21", "sends nothing", proven(drip("", "")), fails(4, "")},
		{"21", "sends a header section byte by byte without end", alone(drip(ok+"X: ", "x")), fails(4, "")},
		{"21", "sends informational answers slowly without end", alone(drip("", "HTTP/1.1 103 Early Hints\r\n\r\n")),
			want{refused, []int{4, 14}, ""}},
		{"21", "sends half a header section and closes", alone(mirrortest.RawString(ok + "Content-Le")), fails(4, "")},
		{"21", "closes without an answer", alone(mirrortest.RawString("")), fails(4, "")},
		{"17", "answers in HTTP/0.9", spoken(""), fails(7, "")},
		{"17", "answers in HTTP/2", spoken("\x00\x00\x12\x04\x00\x00\x00\x00\x00"), fails(7, "")},
		{"17", "answers as SSH does", spoken("SSH-2.0-OpenSSH_9.2p1\r\n"), fails(7, "")},
		{"17", "answers in ICY", spoken(strings.Replace(good, "HTTP/1.1", "ICY", 1)), fails(7, "")},
		{"17", "answers in HTTP/9.9", spoken(strings.Replace(good, "1.1", "9.9", 1)), isUnverified},
		{"17", "answers in HTTP/1.0", spoken(strings.Replace(good, "1.1", "1.0", 1)), isUnverified},
		{"17", "answers with a status of four digits", spoken("HTTP/1.1 2000 OK\r\nContent-Length: SIZE\r\n\r\n"), fails(7, "")},
		{"17", "answers with a negative status", spoken("HTTP/1.1 -20 OK\r\nContent-Length: SIZE\r\n\r\n"), fails(7, "")},
		{"17", "answers with a status that is a word", spoken("HTTP/1.1 fine\r\nContent-Length: SIZE\r\n\r\n"), fails(7, "")},
		{"17", "sends a field without a colon", spoken(ok + "Content-Length: SIZE\r\nnonsense\r\n\r\n"), fails(7, "")},
		// a length that is passed over shows no cut
		{"17", "sends a space before the colon", spoken(ok + "Content-Length : SIZE\r\n\r\n"),
			fails(7, "a space follows the name")},
		{"17", "sends a NUL in a field", spoken(ok + "X: a\x00b\r\nContent-Length: SIZE\r\n\r\n"), fails(7, "")},
		{"17", "sends a continued line as a length", spoken(ok + "Content-Length: \r\n SIZE\r\n\r\n"), isUnverified},
		{"17", "ends lines with line feeds only", spoken("HTTP/1.1 200 OK\nContent-Length: SIZE\n\n"), isUnverified},
	}
}
