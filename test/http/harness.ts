import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import inject, { type InjectOptions } from 'light-my-request';
import pino from 'pino';
import type { RequestEvent } from '../../src/http/events.ts';
import {
  createPublicServer,
  type PublicServer,
  type PublicServerOptions,
} from '../../src/http/search-api/public-server.ts';
import type { ConnectionEvent, TokenEvent } from '../../src/http/transport/events.ts';
import { systemClock } from '../../src/runtime.ts';
import { registerPage } from '../../src/ui/page/route.ts';
import { createFakeSearch, type FakeSearch, type FakeSearchOptions } from '../fakes/search.ts';

export interface TestServer {
  readonly search: FakeSearch;
  readonly events: RequestEvent[];
  /** Connection events, in order. */
  readonly connections: ConnectionEvent['what'][];
  /** Token events, in order. */
  readonly tokens: TokenEvent[];
  /** Parsed log lines, `debug` and up. */
  readonly lines: Record<string, unknown>[];
  readonly server: PublicServer;
}

type Options = Partial<PublicServerOptions> & {
  readonly fake?: Partial<FakeSearchOptions>;
  readonly page?: Pick<Parameters<typeof registerPage>[1], 'examples' | 'explainUrl'>;
};

/** A test, or anything else that runs a function at its end. */
interface Context {
  readonly after: (end: () => unknown) => void;
}

/** A public server over the fake search, closed when the test ends. */
export function publicServer(context: Context, { fake, page, ...options }: Options = {}): TestServer {
  const clock = options.clock ?? systemClock;
  const search = createFakeSearch({ clock, ...fake });
  const events: RequestEvent[] = [];
  const connections: ConnectionEvent['what'][] = [];
  const tokens: TokenEvent[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const server = createPublicServer({
    domains: search.domains,
    observe: (event) => events.push(event),
    observeConnection: ({ what }) => connections.push(what),
    observeToken: (event) => tokens.push(event),
    log,
    clock,
    random: () => 0.5,
    maxPageBytes: 1_000_000,
    maxUrlBytes: 4096,
    maxBodyBytes: 64 * 1024,
    maxConnections: 200,
    maxInFlight: 200,
    maxLoopDelayMs: 60_000,
    drainMs: 3000,
    lameDuckMs: 0,
    hitSample: 0,
    version: '0.0.0',
    pages: (app, context) => registerPage(app, { ...context, ...page }),
    ...options,
  });
  context.after(() => server.close());
  Object.assign(server.app, { inject: injectorOf(server.app) });
  return { search, events, connections, tokens, lines, server };
}

/** Searches are answered before Fastify: an injected request goes in where the listener takes it. */
export function injectorOf(app: FastifyInstance) {
  const dispatch = (request: unknown, response: unknown) => app.server.emit('request', request, response);
  return async (asked: string | InjectOptions) => {
    await app.ready();
    return inject(dispatch, asked);
  };
}

/** Outcome, status and domain of each event. */
export const countedOf = (events: readonly RequestEvent[]): string[] =>
  events.map(({ outcome, status, domain }) => `${outcome} ${status} ${domain}`);

/** The log lines of errors. */
export const errorsIn = ({ lines }: Pick<TestServer, 'lines'>): unknown[] =>
  lines.filter(({ level }) => Number(level) >= 50);

/** No search that is not in memory is answered, until the returned function is called. */
export function held(search: FakeSearch): () => void {
  const compute = search.answer;
  const { promise, resolve } = Promise.withResolvers<void>();
  search.answer = (prepared, client) => promise.then(() => compute(prepared, client));
  return resolve;
}

/** `POST /msearch`. @param searches the items, or their JSON */
export function postBatch({ server }: TestServer, searches: readonly object[] | string) {
  const payload = typeof searches === 'string' ? `{"searches":[${searches}]}` : JSON.stringify({ searches });
  const headers = { 'content-type': 'application/json' };
  return server.app.inject({ method: 'POST', url: '/msearch', headers, payload });
}

export interface ListeningServer extends TestServer {
  readonly port: number;
  readonly url: string;
}

export async function listeningServer(context: Context, options: Options = {}): Promise<ListeningServer> {
  const started = publicServer(context, options);
  const url = await started.server.listen({ host: '127.0.0.1', port: 0 });
  return { ...started, url, port: (started.server.app.server.address() as AddressInfo).port };
}

export interface Client {
  readonly socket: Socket;
  /** Everything that it has received. */
  readonly text: () => string;
}

/** A connection that reads, until it is told otherwise. It is destroyed at the end of the test. */
export function openClient(context: Context, port: number, bytes = ''): Client {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {});
  context.after(() => socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  if (bytes !== '') socket.write(bytes);
  return { socket, text: () => text };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly problem: { readonly code?: string; readonly parameter?: string; readonly detail?: string };
}

/** Sends bytes as they are and reads until the server closes, so the request should say `Connection: close`. */
export async function sendBytes(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const socket = connect({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A server that does not read the rest of a request may reset the connection after its answer.
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  await once(socket, 'close');
  return parseAnswer(Buffer.concat(chunks).toString('utf8'));
}

export function parseAnswer(text: string): RawAnswer {
  const split = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = text.slice(0, split).split('\r\n');
  const body = text.slice(split + 4);
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
  );
  const isProblem = headers['content-type'] === 'application/problem+json';
  return { status: Number(statusLine.split(' ')[1]), headers, body, problem: isProblem ? JSON.parse(body) : {} };
}

/** `GET target`, one connection, byte for byte. */
export function get(port: number, target: string, fields = ''): Promise<RawAnswer> {
  return sendBytes(port, `GET ${target} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n${fields}\r\n`);
}
