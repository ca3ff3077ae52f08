import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export type Reply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly bytes: number;
      /** Empty when the client discards bodies. */
      readonly body: string;
    }
  /** No complete answer within the patience. */
  | { readonly kind: 'hung' }
  /** The connection ended first. */
  | { readonly kind: 'broken'; readonly why: string; readonly isIdleClose: boolean };

/** The outcome that a page of serpcache names in `server-timing`; undefined for every other reply. */
export function outcomeOf(reply: Reply): string | undefined {
  if (reply.kind !== 'answer') return undefined;
  return /\bcache;desc=([a-z0-9-]+)/.exec(String(reply.headers['server-timing']))?.[1];
}

type Headers = Readonly<Record<string, string>>;

interface ClientOptions {
  readonly baseUrl: string;
  /** From sending to the last byte. */
  readonly patienceMs: number;
  /** Kept alive. A request beyond the maximum waits for a connection. */
  readonly maxConnections: number;
  /** Counts the bytes of bodies and does not keep them. */
  readonly discardsBodies?: boolean;
}

/**
 * GET requests to one server. No method rejects. Node's client costs about a tenth of a millisecond for each request, for
 * every server alike.
 */
export function createClient({ baseUrl, patienceMs, maxConnections, discardsBodies = false }: ClientOptions) {
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections, maxFreeSockets: maxConnections });
  const { hostname, port } = new URL(baseUrl);

  const getOnce = (path: string, headers: Headers = {}): Promise<Reply> =>
    new Promise((resolve) => {
      let isAnswered = false;
      const options = { agent, hostname, port, path, headers: { 'accept-encoding': 'identity', ...headers } };
      const sent = request(options, (response) => {
        isAnswered = true;
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on('data', (part: Buffer) => {
          bytes += part.length;
          if (!discardsBodies) parts.push(part);
        });
        response.once('end', () => {
          clearTimeout(timer);
          const body = discardsBodies ? '' : Buffer.concat(parts).toString('utf8');
          resolve({ kind: 'answer', status: response.statusCode ?? 0, headers: response.headers, bytes, body });
        });
        response.once('error', fail);
      });
      const fail = (error: Error): void => {
        clearTimeout(timer);
        const why = 'code' in error ? String(error.code) : error.message;
        resolve({ kind: 'broken', why, isIdleClose: sent.reusedSocket && !isAnswered && why === 'ECONNRESET' });
      };
      const timer = setTimeout(() => {
        resolve({ kind: 'hung' });
        sent.destroy();
      }, patienceMs);
      sent.once('error', fail);
      sent.end();
    });

  return {
    getOnce,
    /** Sends again when the server closed the idle connection that the request was sent on. */
    get: async (target: string, headers?: Headers): Promise<Reply> => {
      const first = await getOnce(target, headers);
      // A server may close an idle connection while a request is on its way there: clients send it again (RFC 9110 §9.2.2).
      return first.kind === 'broken' && first.isIdleClose ? getOnce(target, headers) : first;
    },
    /** Closes every connection; requests in flight are broken. */
    close: (): void => agent.destroy(),
  };
}
