import { readFileSync } from 'node:fs';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';

const CONFIGURATION = new URL('../../../deploy/redis/redis-cache.conf', import.meta.url);

/** The ACL rules that our server configuration advises: names and commands. */
const [, advised = ''] = /^# user serpcache on #<sha256> (.+)$/m.exec(readFileSync(CONFIGURATION, 'utf8')) ?? [];

export const ADVISED_USER = { username: 'serpcache', password: 'only-for-this-test', rules: advised };

const [, doctor = ''] = /^# user serpcache-doctor on #<sha256> (.+)$/m.exec(readFileSync(CONFIGURATION, 'utf8')) ?? [];

/** The advised user of the doctor. */
export const DOCTOR_USER = { username: 'serpcache-doctor', password: 'only-for-this-test', rules: doctor };

/** The advised user with the right to flush whole nodes. */
export const USER = { ...ADVISED_USER, rules: `${advised} +flushdb` };

/** Connection settings: that user, over TLS. */
export const secure = (stack: RedisStack) => ({
  username: USER.username,
  password: USER.password,
  tls: { ...(stack.ca !== undefined && { ca: stack.ca }), rejectUnauthorized: true },
});
