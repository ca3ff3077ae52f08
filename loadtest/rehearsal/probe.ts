import { createClient } from '../http-driver/client.ts';
import type { Bed } from './bed.ts';
import { isHit, resultOf, targetOf } from './load.ts';

/** Single searches to a replica, beside the load: whether it has them. */
export interface Probe {
  /** @param limit results asked for: what nobody else asks for is a key of the probe's own. */
  readonly isHit: (replica: number, text: string, limit: number) => Promise<boolean>;
  readonly close: () => void;
}

export function createProbe({ replicas, domain }: Bed): Probe {
  const clients = replicas.map(({ url }) => createClient({ baseUrl: url, patienceMs: 5000, maxConnections: 8 }));
  return {
    isHit: async (replica, text, limit) => {
      const reply = await clients[replica]?.get(`${targetOf(text, domain)}&limit=${limit}`);
      return reply !== undefined && isHit({ result: resultOf(reply) });
    },
    close: () => {
      for (const client of clients) client.close();
    },
  };
}
