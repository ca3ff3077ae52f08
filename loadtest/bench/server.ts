/**
 * The Node servers that serpcache is measured beside: `server.ts <plan.json>` answers every request with the headers and the
 * body of the plan, or with the body that a Redis has under the URL. Each does as little as its kind allows: this is what
 * the ways to answer cost, not a service. A request id is the client's own or a new one, as serpcache has it.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createNetServer, type Socket } from 'node:net';
import Fastify from 'fastify';
import { Redis } from 'ioredis';

export interface ServerPlan {
  /** `net` is a lower bound: it reads the target and two headers, and checks nothing. */
  readonly kind: 'http' | 'fastify' | 'net';
  readonly port: number;
  /** Without those that every answer has of its own: date, connection, content-length, x-request-id. */
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body: string;
  /** Bodies are read from it, after ten digits of their expiry. */
  readonly store?: { readonly host: string; readonly port: number };
}

/** Values of the store begin with the second in which they expire. */
export const EXPIRY_DIGITS = 10;

const ID = 'x-request-id';

/** As long as an id of serpcache. */
function idsFrom(start: number): () => string {
  let count = start;
  return () => {
    count += 1;
    return `bench-${count.toString(36).padStart(15, '0')}`;
  };
}

const newId = idsFrom(Date.now());

if (import.meta.main) {
  const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ServerPlan;
  const body = Buffer.from(plan.body, 'base64');
  if (plan.kind === 'http') serveHttp(plan, body);
  else if (plan.kind === 'net') serveNet(plan, body);
  else await serveFastify(plan, body);
}

function serveHttp({ port, headers, store }: ServerPlan, body: Buffer): void {
  const etag = headers['etag'];
  // Flat lists are the form that `writeHead` takes fastest.
  const known = [ID, '', ...Object.entries(headers).flat()];
  const whole = [...known, 'content-length', ''];
  const send = (request: IncomingMessage, response: ServerResponse, bytes: Buffer): void => {
    const isKnown = etag !== undefined && request.headers['if-none-match'] === etag;
    const own = (isKnown ? known : whole).slice();
    own[1] = String(request.headers[ID] ?? newId());
    // wrk would wait for a body as long as the header says, although a 304 has none.
    if (isKnown) return void response.writeHead(304, own).end();
    own[own.length - 1] = String(bytes.length);
    response.writeHead(200, own).end(bytes);
  };
  const redis = store === undefined ? undefined : new Redis({ ...store });
  createServer((request, response) => {
    if (request.method === 'POST') {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.once('end', () => {
        JSON.parse(Buffer.concat(parts).toString('utf8'));
        send(request, response, body);
      });
    } else if (redis === undefined) send(request, response, body);
    else
      redis.getBuffer(request.url ?? '').then(
        (value) => send(request, response, bodyIn(value)),
        () => response.writeHead(500).end(),
      );
  }).listen(port, '127.0.0.1');
}

async function serveFastify({ port, headers }: ServerPlan, body: Buffer): Promise<void> {
  const app = Fastify();
  app.get('/search', (request, reply) => {
    reply
      .headers(headers)
      .header(ID, request.headers[ID] ?? newId())
      .send(body);
  });
  await app.listen({ port, host: '127.0.0.1' });
}

function serveNet({ port, headers, store }: ServerPlan, body: Buffer): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const common = `${lines.join('')}connection: keep-alive\r\nkeep-alive: timeout=5\r\n`;
  const etag = headers['etag'];
  let [second, start] = [0, ''];
  const answer = (socket: Socket, { id, match }: Head, bytes: Buffer): void => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) {
      second = now;
      start = `${common}date: ${new Date(now * 1000).toUTCString()}\r\n`;
    }
    const isKnown = etag !== undefined && match === etag;
    const end = `${ID}: ${id ?? newId()}\r\n\r\n`;
    if (isKnown) return void socket.write(`HTTP/1.1 304 Not Modified\r\n${start}${end}`, 'latin1');
    const head = `HTTP/1.1 200 OK\r\n${start}content-length: ${bytes.length}\r\n${end}`;
    const out = Buffer.allocUnsafe(head.length + bytes.length);
    out.write(head, 'latin1');
    bytes.copy(out, head.length);
    socket.write(out);
  };
  const get = store === undefined ? undefined : corkedReads(store);
  createNetServer({ noDelay: true }, (socket) => {
    let rest = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      let text = rest + chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const head = headIn(text.slice(0, end));
        text = text.slice(end + 4);
        if (get === undefined) answer(socket, head, body);
        else
          get(head.target).then(
            (value) => answer(socket, head, bodyIn(value)),
            () => socket.destroy(),
          );
      }
      rest = text;
    });
  }).listen(port, '127.0.0.1');
}

type Head = ReturnType<typeof headIn>;

/** Reads each line of a head once. */
function headIn(text: string) {
  const first = text.indexOf(' ') + 1;
  const target = text.slice(first, text.indexOf(' ', first));
  let [id, match]: (string | undefined)[] = [];
  for (let at = text.indexOf('\r\n'); at >= 0; ) {
    const end = text.indexOf('\r\n', at + 2);
    const line = end < 0 ? text.slice(at + 2) : text.slice(at + 2, end);
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (name === ID) id = line.slice(colon + 1).trim();
    else if (name === 'if-none-match') match = line.slice(colon + 1).trim();
    at = end;
  }
  return { target, id, match };
}

/** Reads of one turn of the event loop go to the store in one write. */
function corkedReads(store: { readonly host: string; readonly port: number }) {
  const redis = new Redis({ ...store });
  let isCorked = false;
  return (name: string): Promise<Buffer | null> => {
    if (!isCorked) {
      const { stream } = redis;
      stream.cork();
      isCorked = true;
      setImmediate(() => {
        isCorked = false;
        stream.uncork();
      });
    }
    return redis.getBuffer(name);
  };
}

/** @throws when there was none: an empty page must not count as an answer. */
function bodyIn(value: Buffer | null): Buffer {
  if (value === null) throw new Error('the store has no such page');
  return value.subarray(EXPIRY_DIGITS);
}
