import { replicaSampleOf } from './replica-sample.ts';
import type { ReplicaSample } from './sample.ts';

/** @param adminUrl `http://127.0.0.1:8081`; /metrics there is open to whoever reaches it. */
export function createReplicaAsker(adminUrl: string): {
  readonly name: string;
  /** Never rejects; undefined when the process is away, takes longer than `limitMs` or is not serpcache. */
  readonly ask: (limitMs: number) => Promise<ReplicaSample | undefined>;
} {
  const url = new URL('metrics', adminUrl.endsWith('/') ? adminUrl : `${adminUrl}/`);
  const name = url.host;
  return {
    name,
    ask: async (limitMs) => {
      const aborter = new AbortController();
      const timer = setTimeout(() => aborter.abort(), limitMs);
      try {
        // A redirect would lead to a host that nobody named.
        const response = await fetch(url, { redirect: 'error', signal: aborter.signal });
        const text = await response.text();
        return response.ok ? replicaSampleOf(name, text) : undefined;
      } catch {
        return undefined;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
