import { createClient } from '../traffic/client.ts';
import type { Bed } from './bed.ts';
import { isHit, resultOf, targetOf } from './load.ts';

/** Single searches to a replica, beside the load: whether it has them. */
export interface Probe {
  readonly isHit: (replica: number, text: string) => Promise<boolean>;
  readonly close: () => void;
}

export function createProbe({ replicas, domain }: Bed): Probe {
  const clients = replicas.map(({ url }) => createClient({ baseUrl: url, boundMs: 5000, maxConnections: 8 }));
  return {
    isHit: async (replica, text) => {
      const reply = await clients[replica]?.get(targetOf(text, domain));
      return reply !== undefined && isHit({ result: resultOf(reply) });
    },
    close: () => {
      for (const client of clients) client.close();
    },
  };
}
