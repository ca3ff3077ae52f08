import { readFileSync } from 'node:fs';
import type { RedisStack } from '../../../loadtest/stack/redis.ts';

const FILE = new URL('../../../deploy/redis/users.acl', import.meta.url);

/** A user of the file that deploy/redis ships: its rules are names and commands. */
function userOf(username: string) {
  const [, rules] = new RegExp(`^user ${username} off (.+)$`, 'm').exec(readFileSync(FILE, 'utf8')) ?? [];
  if (rules === undefined) throw new Error(`deploy/redis/users.acl has no user ${username}`);
  return { username, password: 'only-for-this-test', rules };
}

export const ADVISED_USER = userOf('serpcache');

/** The advised user of the doctor. */
export const DOCTOR_USER = userOf('serpcache-doctor');

/** The advised user with the right to flush whole nodes. */
export const USER = { ...ADVISED_USER, rules: `${ADVISED_USER.rules} +flushdb` };

/** Connection settings: that user, over TLS. */
export const secure = (stack: RedisStack) => ({
  username: USER.username,
  password: USER.password,
  tls: { ca: stack.ca, rejectUnauthorized: true },
});
