//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// A storeFloor holds the times of uploading an object from memory: of the parts, 4 at once, and of completing the
// upload.
type storeFloor struct{ parts, complete time.Duration }

// of returns the minimum time for an object whose download takes file: the parts may be uploaded during the download.
func (f storeFloor) of(file time.Duration) time.Duration { return max(file, f.parts) + f.complete }

// The parts have braid's size and concurrency.
const floorPart, floorAtOnce = 8 << 20, 4

// storeFloor uploads an object of a given size with Amazon's library.
func (b *bench) storeFloor(ctx context.Context, store []string, size int64) (f storeFloor, err error) {
	c := amazon(strings.TrimPrefix(store[0], "AWS_ENDPOINT_URL_S3="))
	bucket, key := aws.String("bucket"), aws.String("floor")
	start := time.Now()
	up, err := c.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: bucket, Key: key, ChecksumAlgorithm: types.ChecksumAlgorithmSha256, ChecksumType: types.ChecksumTypeComposite,
	})
	if err != nil {
		return f, err
	}
	parts, err := floorParts(ctx, c, up, int(size/floorPart))
	if err != nil {
		return f, err
	}
	f.parts = time.Since(start)
	start = time.Now()
	_, err = c.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: bucket, Key: key, UploadId: up.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	f.complete = time.Since(start)
	return f, err
}

// floorParts uploads n parts with their checksums.
func floorParts(ctx context.Context, c *s3.Client, up *s3.CreateMultipartUploadOutput, n int) ([]types.CompletedPart, error) {
	data := make([]byte, floorPart)
	hash := sha256.Sum256(data)
	sum := base64.StdEncoding.EncodeToString(hash[:])
	parts, faults := make([]types.CompletedPart, n), make([]error, n)
	slots := make(chan struct{}, floorAtOnce)
	var wg sync.WaitGroup
	for i := range parts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			number := aws.Int32(int32(i + 1))
			p, err := c.UploadPart(ctx, &s3.UploadPartInput{
				Bucket: up.Bucket, Key: up.Key, UploadId: up.UploadId, PartNumber: number, Body: bytes.NewReader(data), ChecksumSHA256: &sum,
			})
			if faults[i] = err; err == nil {
				parts[i] = types.CompletedPart{PartNumber: number, ETag: p.ETag, ChecksumSHA256: &sum}
			}
		})
	}
	wg.Wait()
	return parts, errors.Join(faults...)
}

// amazon returns a client that leaves the payload unsigned, like braid.
func amazon(endpoint string) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: &endpoint, Region: "us-east-1", UsePathStyle: true, RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}, s3.WithAPIOptions(v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware))
}
