import { readFileSync } from 'node:fs';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';

const CONFIGURATION = new URL('../../../deploy/redis/redis-cache.conf', import.meta.url);

/** The rules that our configuration of a server tells operators to give: names, commands, nothing else. */
const [, advised = ''] = /^# user serpcache on #<sha256> (.+)$/m.exec(readFileSync(CONFIGURATION, 'utf8')) ?? [];

export const ADVISED_USER = { username: 'serpcache', password: 'only-for-this-test', rules: advised };

/** The same where whole nodes may be emptied. */
export const USER = { ...ADVISED_USER, rules: `${advised} +flushdb` };

/** Of settings: as that user, over TLS. */
export const secure = (stack: RedisStack) => ({
  username: USER.username,
  password: USER.password,
  tls: { ...(stack.ca !== undefined && { ca: stack.ca }), rejectUnauthorized: true },
});
