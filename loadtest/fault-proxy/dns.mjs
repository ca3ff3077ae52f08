/**
 * DNS faults for one process, without touching the machine's resolver: `node --import=file:///…/dns.mjs?names=FILE`.
 *
 * Everything that connects to a host name through node:net or node:tls, and so ioredis, mysql2, node:http and fetch,
 * looks it up with the function that node:dns holds as `lookup` at that moment. This module puts its own there, for
 * the names in FILE alone, a JSON object that is read again at each look-up:
 *   { "redis.test": ["127.0.0.1"], "gone.test": "ENOTFOUND", "later.test": "EAI_AGAIN", "mute.test": "silence",
 *     "slow.test": { "afterMs": 300, "addresses": ["127.0.0.1"] } }
 * All other names take the ordinary way. dns.promises.lookup and dns.resolve are left as they are: nothing here
 * connects through them. Plain JavaScript, because it is loaded before anything else. See dns-names.ts.
 */
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isIPv6 } from 'node:net';

const file = new URL(import.meta.url).searchParams.get('names') ?? '';
const ordinary = dns.lookup;

dns.lookup = function lookup(hostname, given, done) {
  const callback = typeof given === 'function' ? given : done;
  const options = typeof given === 'function' ? {} : typeof given === 'number' ? { family: given } : (given ?? {});
  const names = JSON.parse(readFileSync(file, 'utf8'));
  if (!Object.hasOwn(names, hostname)) return ordinary(hostname, given, done);
  const told = names[hostname];
  const answer = told.addresses ?? told;
  if (answer === 'silence') return {};
  // Like the real one, never before the caller has returned.
  setTimeout(() => {
    if (!Array.isArray(answer)) {
      const error = Object.assign(new Error(`getaddrinfo ${answer} ${hostname}`), { code: answer, hostname });
      return callback(Object.assign(error, { errno: answer === 'ENOTFOUND' ? -3008 : -3001, syscall: 'getaddrinfo' }));
    }
    const addresses = answer.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    if (options.all) callback(null, addresses);
    else callback(null, addresses[0].address, addresses[0].family);
  }, told.afterMs ?? 0);
  return {};
};
Object.defineProperty(dns.lookup, Symbol.for('nodejs.util.promisify.custom'), {
  value: ordinary[Symbol.for('nodejs.util.promisify.custom')],
});
syncBuiltinESMExports();
