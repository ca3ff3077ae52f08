/**
 * For the logger compose builds: what must never be readable in a line, wherever an object with such a member ends up
 * in one. The rooms log no headers and no settings; this is the second lock.
 */
const SECRETS = ['authorization', 'cookie', 'token', 'password', 'sentinelPassword', 'key'];

export const redaction = {
  // One and two levels of nesting: `{ headers: {…} }`, `{ req: { headers: {…} } }`, `{ settings: { admin: {…} } }`.
  // `key` is a query's key at the top of a line and a TLS secret further down.
  paths: SECRETS.flatMap((name) => [...(name === 'key' ? [] : [name]), `*.${name}`, `*.*.${name}`]),
  censor: '[redacted]',
};
