package sums

import (
	"fmt"
	"strings"

	"braid/verify"
)

// ours returns the algorithm that lists and their file names call name, in lower case, or 0 if package verify does not
// support it. OpenSSL writes sha2-256 for sha-256. The name "sha" is not accepted: in OpenSSL it was SHA-0.
func ours(name string) verify.Algorithm {
	if name == "sha" {
		return 0
	}
	if rest, ok := strings.CutPrefix(name, "sha2-"); ok {
		if a, _ := verify.ParseAlgorithm("sha-" + rest); a.Strong() {
			return a
		}
		return 0
	}
	a, _ := verify.ParseAlgorithm(name)
	return a
}

// others maps the names of unsupported algorithms. Many of them have digests as long as those of supported algorithms.
var others = map[string]string{
	"b2sum": "BLAKE2", "b2sums": "BLAKE2", "blake2": "BLAKE2", "blake2b": "BLAKE2", "blake2s": "BLAKE2",
	"b3sum": "BLAKE3", "b3sums": "BLAKE3", "blake3": "BLAKE3",
	"sha3": "SHA-3", "sha3-224": "SHA-3", "sha3-256": "SHA-3", "sha3-384": "SHA-3", "sha3-512": "SHA-3", "keccak": "Keccak",
	"sha512-256": "SHA-512/256", "sha512-224": "SHA-512/224",
	"sha224": "SHA-224", "sha-224": "SHA-224", "sha384": "SHA-384", "sha-384": "SHA-384", "sha2-384": "SHA-384",
	"md4": "MD4", "sm3": "SM3", "rmd160": "RIPEMD-160", "ripemd160": "RIPEMD-160", "whirlpool": "Whirlpool",
	"xxh128": "XXH128", "xxh128sum": "XXH128", "crc32": "CRC-32",
}

// lastOnly maps names of unsupported algorithms that are recognized only at the end of a list's name, because elsewhere
// they have another meaning, as in jdk-17-b3.
var lastOnly = map[string]string{"b2": "BLAKE2", "b3": "BLAKE3"}

// A hint is the algorithm that the name of a list implies for lines that name no algorithm.
type hint struct {
	alg     verify.Algorithm // 0 if the name implies no algorithm, or several
	foreign string           // an unsupported algorithm, or ""
}

// hintOf parses the name of a list: SHA256SUMS, sha512sum.txt, disk.iso.sha256, CHECKSUM.SHA256-disk. The last
// algorithm in the name is used, because an earlier one may belong to the name of a file: sha3-1.0.tar.gz.sha256.
func hintOf(name string) (h hint) {
	words := strings.FieldsFunc(normal(name), func(c rune) bool { return c > 0x7f || !alphanumeric(byte(c)) })
	several := false
	for len(words) > 0 {
		alg, foreign, n := consumeWords(words)
		if words = words[n:]; alg != 0 || foreign != "" {
			several = several || h.alg != 0 && alg != 0 && h.alg != alg
			h = hint{alg, foreign}
		}
	}
	if several {
		h.alg = 0 // the length of a digest decides
	}
	return h
}

// consumeWords parses an algorithm at the beginning of words and returns the number of words to skip.
func consumeWords(words []string) (alg verify.Algorithm, foreign string, n int) {
	for n = min(2, len(words)); n > 0; n-- {
		word := strings.Join(words[:n], "-")
		if foreign = others[word]; foreign == "" && n == len(words) {
			foreign = lastOnly[word]
		}
		word = singular(word)
		if foreign == "" {
			foreign = others[word]
		}
		if alg = ours(word); alg != 0 {
			return alg, "", n
		}
		if foreign != "" {
			return 0, foreign, n
		}
	}
	return 0, "", 1
}

// algorithm returns the algorithm of a digest with this number of hexadecimal digits. For an unsupported algorithm it
// returns the name in foreign, and for an unknown algorithm the reason in why.
func (h hint) algorithm(digits int) (alg verify.Algorithm, foreign, why string) {
	if h.foreign != "" {
		return 0, "", fmt.Sprintf("the name of the list says %s, which is not supported", h.foreign)
	}
	if h.alg != 0 {
		if digits != 2*h.alg.Size() {
			return 0, "", fmt.Sprintf("%d hexadecimal digits are not a %v digest, "+
				"which the name of the list implies", digits, h.alg)
		}
		return h.alg, "", ""
	}
	for _, a := range verify.Algorithms() {
		if digits == 2*a.Size() {
			return a, "", ""
		}
	}
	switch digits {
	case 56:
		return 0, "SHA-224", ""
	case 96:
		return 0, "SHA-384", ""
	}
	return 0, "", fmt.Sprintf("%d hexadecimal digits are not a digest", digits)
}

// about returns the name of the file that a list is named after: disk.iso for disk.iso.sha256 or
// disk.iso.sha256sum.txt. It returns "" if the list is not named after a file.
func about(list string) string {
	for _, ext := range []string{".asc", ".txt"} {
		list = strings.TrimSuffix(list, ext)
	}
	if i := strings.LastIndexByte(list, '.'); i > 0 && ours(singular(normal(list[i+1:]))) != 0 {
		return list[:i]
	}
	return ""
}

// singular returns word without the ending "sum" or "sums", as in sha256sum and SHA256SUMS.
func singular(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(word, "s"), "sum")
}

// normal returns the name of an algorithm in the spelling of the tables.
func normal(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }
