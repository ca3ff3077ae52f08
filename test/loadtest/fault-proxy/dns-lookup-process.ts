/** A separate process for dns.test.ts: reads lines `redis|engine host port` and writes the result of each connection. */
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { openConnection } from '../../../src/engines/sphinx/connection.ts';

const WAYS: Readonly<Record<string, (host: string, port: number) => Promise<string>>> = {
  redis: async (host, port) => {
    const client = new Redis({ host, port, protocol: 2, lazyConnect: true, retryStrategy: null, connectTimeout: 300 });
    const failed = new Promise<string>((resolve) => {
      client.on('error', (error) => resolve(error.message));
    });
    const done = await Promise.race([client.connect().then(() => client.ping()), failed]).catch(() => failed);
    client.disconnect();
    return done;
  },
  engine: async (host, port) => {
    const options = { host, port, connectTimeoutMs: 300, onClose: () => {} };
    return openConnection(options, AbortSignal.timeout(5000)).then(
      (connection) => {
        connection.destroy();
        return 'greeted';
      },
      (error: Error) => error.message,
    );
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [way = '', host = '', port] = line.split(' ');
  console.log((await WAYS[way]?.(host, Number(port))) ?? `no way ${way}`);
}
