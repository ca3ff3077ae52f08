import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** How one request ended. */
export type Reply =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  /** No complete answer within the bound. */
  | { readonly kind: 'hung' }
  /** The connection ended first. */
  | { readonly kind: 'broken'; readonly why: string };

export interface Client {
  /** Never rejects. */
  readonly get: (target: string, headers?: Readonly<Record<string, string>>) => Promise<Reply>;
  readonly close: () => void;
}

export interface ClientOptions {
  readonly baseUrl: string;
  /** From sending to the last byte. */
  readonly boundMs: number;
  readonly maxConnections: number;
}

/** Keep-alive connections, as many as there are requests in flight, up to a bound. */
export function createClient({ baseUrl, boundMs, maxConnections }: ClientOptions): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections, maxFreeSockets: maxConnections });
  const { hostname, port } = new URL(baseUrl);

  const once = (
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Reply & { readonly onIdleConnection?: boolean }> =>
    new Promise((resolve) => {
      let answered = false;
      const sent = request(
        { agent, hostname, port, path, headers: { 'accept-encoding': 'identity', ...headers } },
        (response) => {
          answered = true;
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.once('end', () => {
            clearTimeout(timer);
            const body = Buffer.concat(parts).toString('utf8');
            resolve({ kind: 'answer', status: response.statusCode ?? 0, headers: response.headers, body });
          });
          response.once('error', (error) => fail(error));
        },
      );
      const fail = (error: Error): void => {
        clearTimeout(timer);
        const why = 'code' in error ? String(error.code) : error.message;
        resolve({ kind: 'broken', why, onIdleConnection: sent.reusedSocket && !answered });
      };
      const timer = setTimeout(() => {
        resolve({ kind: 'hung' });
        sent.destroy();
      }, boundMs);
      sent.once('error', fail);
      sent.end();
    });

  return {
    get: async (target, headers = {}) => {
      const first = await once(target, headers);
      // A server may close an idle connection while a request is on its way there: every client asks again (RFC 9110 §9.2.2).
      if (first.kind === 'broken' && first.onIdleConnection && first.why === 'ECONNRESET') return once(target, headers);
      return first;
    },
    close: () => agent.destroy(),
  };
}
