import { readFileSync } from 'node:fs';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';

const EXAMPLE = new URL('../../../deploy/production.example.yaml', import.meta.url);

/** All that the adapter asks of a server: its own names, its commands, and what a handshake and a map of slots need. */
export const USER = {
  username: 'serpcache',
  password: 'only-for-this-test',
  rules:
    'resetchannels ~sc1:* -@all +get +set +del +eval +time +zadd +zrem +zrange +zremrangebyscore +pexpireat ' +
    // The control document and reports, content, counters.
    '+hget +hset +hmget +hincrby +hlen +hdel +hgetall +zcard +zremrangebyrank +pexpire ' +
    '+scan +strlen +unlink +dbsize +flushdb +zincrby +zrevrange +pttl ' +
    '+ping +info +asking +select +client|setname +cluster|slots +cluster|info',
};

/** The rules our example of a configuration tells operators to give. */
const [, advised = ''] = /ACL SETUSER serpcache on >… ([^`]+)`/.exec(readFileSync(EXAMPLE, 'utf8')) ?? [];
export const ADVISED_USER = { ...USER, rules: `resetchannels -@all ${advised}` };

/** Of settings: as that user, over TLS. */
export const secure = (stack: RedisStack) => ({
  username: USER.username,
  password: USER.password,
  tls: { ...(stack.ca !== undefined && { ca: stack.ca }), rejectUnauthorized: true },
});
