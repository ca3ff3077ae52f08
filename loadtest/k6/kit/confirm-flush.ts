import type { Target } from './target.ts';

const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:\/|$)/i;

/**
 * What is flushed for good is not given back, so a host that others may use wants it said.
 * @throws Error that names the variable and the hosts.
 */
export function confirmFlush(env: Readonly<Record<string, string | undefined>>, { baseUrls, adminUrls }: Target): void {
  const far = [...baseUrls, ...adminUrls].filter((url) => !LOOPBACK.test(url));
  if (far.length === 0 || env['FLUSH'] === 'yes') return;
  throw new Error(
    `FLUSH is "${env['FLUSH'] ?? ''}": this script flushes the cache of ${far.join(', ')} for good; FLUSH=yes allows it`,
  );
}
