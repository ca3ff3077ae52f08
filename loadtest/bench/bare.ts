/**
 * The baseline of the benchmark: a Node server that does the minimum. `bare.ts <plan.json>` answers every URL with the
 * plan's headers and either its body (no store) or the value under the URL's name in the cluster.
 */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { Cluster } from 'ioredis';

export interface BarePlan {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly store?: {
    readonly nodes: readonly { readonly host: string; readonly port: number }[];
    readonly nameOf: Readonly<Record<string, string>>;
  };
}

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as BarePlan;
const body = Buffer.from(plan.body);
const store = plan.store === undefined ? undefined : new Cluster([...plan.store.nodes]);
const names = new Map(Object.entries(plan.store?.nameOf ?? {}));

const send = (response: ServerResponse, bytes: Buffer): void => {
  response.writeHead(200, { ...plan.headers, 'content-length': bytes.length });
  response.end(bytes);
};

const server = createServer((request, response) => {
  if (store === undefined) return send(response, body);
  store.getBuffer(names.get(request.url ?? '') ?? '').then(
    (value) => send(response, value ?? Buffer.alloc(0)),
    () => response.writeHead(500).end(),
  );
});
server.listen(plan.port, '127.0.0.1');
