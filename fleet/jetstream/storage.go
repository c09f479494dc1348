package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// A storage is the connection to the server of a queue, with the queue's stream and buckets.
type storage struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	jobs   jetstream.KeyValue
	leases jetstream.KeyValue
	pace   jetstream.KeyValue
	feeds  jetstream.KeyValue

	works bool          // this process takes jobs
	lease time.Duration // how long this process keeps a job without renewal
	there bool          // the queue must exist
	here  bool          // the server is on this machine and has the same clock
}

// prepare creates the stream and buckets if they are missing, and measures the clock. It retries, because a cluster may
// just have started or lost a server.
func (s *storage) prepare(ctx context.Context, clock *clock) (err error) {
	replicas := 1
	if s.clustered() {
		replicas = 3
	}
	for {
		once, stop := context.WithTimeout(ctx, 2*oneCall)
		if err = s.make(once, replicas); err == nil && !s.here {
			err = clock.measure(once, s.leases)
		}
		stop()
		if errors.Is(err, nats.ErrNoResponders) && !s.here && !s.clustered() { // a single server is ready as soon as it listens
			err = jetstream.ErrJetStreamNotEnabled
		}
		if err == nil || Refused(err) || Lacking(err) || Missing(err) || rest(ctx, 500*time.Millisecond) != nil {
			return err
		}
	}
}

// clustered reports whether the server is part of a cluster.
func (s *storage) clustered() bool { return s.conn.ConnectedClusterName() != "" }

func (s *storage) make(ctx context.Context, replicas int) error {
	err := s.makeStream(ctx, replicas)
	if err == nil && s.works {
		err = s.makeConsumers(ctx)
	}
	if err != nil {
		return err
	}
	for name, bucket := range map[string]*jetstream.KeyValue{"jobs": &s.jobs, "leases": &s.leases, "pace": &s.pace,
		"feeds": &s.feeds} {
		if *bucket, err = s.bucket(ctx, "braid_"+name, replicas); err != nil {
			return err
		}
	}
	if replicas > 1 {
		s.jobs, err = newSure(ctx, s.js, s.jobs)
	}
	return err
}

// makeStream creates the stream. If an older version of braid created it, makeStream adds the subjects for priorities.
func (s *storage) makeStream(ctx context.Context, replicas int) error {
	var subjects []string
	for _, p := range fleet.Priorities {
		subjects = append(subjects, nameFor(subject, ".", p))
	}
	stream, err := s.js.Stream(ctx, streamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) && s.there {
		err = errMissing
	} else if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = s.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: streamName, Subjects: subjects, Retention: jetstream.WorkQueuePolicy, Duplicates: duplicates,
			Replicas: replicas,
		})
	} else if err == nil && len(stream.CachedInfo().Config.Subjects) < len(subjects) {
		c := stream.CachedInfo().Config
		c.Subjects = subjects
		_, err = s.js.UpdateStream(ctx, c)
	}
	return err
}

// makeConsumers creates a consumer for each priority.
func (s *storage) makeConsumers(ctx context.Context) error {
	for _, p := range []fleet.Priority{fleet.Normal, fleet.High, fleet.Low} { // in old queues Normal's has all messages
		if _, err := s.js.CreateOrUpdateConsumer(ctx, streamName, jetstream.ConsumerConfig{
			Durable: nameFor(consumerName, "-", p), FilterSubject: nameFor(subject, ".", p),
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: s.lease,
			MaxDeliver: -1, MaxAckPending: -1,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *storage) bucket(ctx context.Context, name string, replicas int) (jetstream.KeyValue, error) {
	b, err := s.js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		c := jetstream.KeyValueConfig{Bucket: name, Replicas: replicas}
		if name == "braid_pace" {
			c.TTL = paceTime
		}
		b, err = s.js.CreateKeyValue(ctx, c)
	}
	return b, err
}

// madeAt returns when the bucket of records was created.
func (s *storage) madeAt(ctx context.Context) (time.Time, error) {
	stream, err := s.js.Stream(ctx, "KV_braid_jobs")
	if err != nil {
		return time.Time{}, err
	}
	return stream.CachedInfo().Created, nil
}
