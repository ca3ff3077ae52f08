import { type ServerResponse, STATUS_CODES } from 'node:http';
import { type Duplex, duplexPair, pipeline } from 'node:stream';
import type { Logger } from 'pino';
import { type Problem, problemResponse } from './problem.ts';

/**
 * Handles Node's `clientError`: answers the requests that its HTTP parser refuses before there is a request object, such as
 * a broken request line, header fields that overflow, or a request that stops half-way. The sender is at fault, so it is
 * never an error in the log.
 */
export function createClientErrorHandler(options: {
  readonly log: Logger;
  readonly random: () => number;
  /** Gives the server a connection that does not come from its listener. */
  readonly connect: (stream: Duplex) => void;
  /** Called for each request that did not arrive in time. */
  readonly onSlow: () => void;
}): (error: Error, socket: Duplex) => void {
  /** Connections whose answer is being written: further errors of their parsers are ignored. */
  const answered = new WeakSet<Duplex>();

  return (error, socket) => {
    if (answered.has(socket)) return;
    const { code = 'unknown', rawPacket } = error as NodeJS.ErrnoException & { readonly rawPacket?: Buffer };
    options.log.debug({ fault: code }, 'unreadable request');
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') options.onSlow();
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    answered.add(socket);
    const busy = busyOf(socket);
    if (code === 'HPE_INVALID_URL' && !busy && answerRawTarget(options.connect, socket, rawPacket)) return;
    const { status, headers, body } = problemResponse(OF_PARSER[code] ?? UNREADABLE, undefined, options.random);
    const fields = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`;
    // Requests before this one are answered first, in their order: Node takes up the next answer when one is closed. Only
    // the answer to the broken request itself is replaced, if it has not begun.
    const answer = (): void => {
      const current = busyOf(socket);
      if (current?.req.complete) current.once('close', answer);
      else if (current?.headersSent) socket.destroy();
      else if (socket.writable) socket.end(text, () => socket.destroy());
    };
    answer();
  };
}

/** The answer that Node is sending, or will send next, on this connection. */
function busyOf(socket: Duplex): ServerResponse | null | undefined {
  return (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage;
}

const UNREADABLE: Problem = { code: 'invalid-request', detail: 'The bytes received are not an HTTP/1.1 request.' };
/** By the code of the parser's error; any other is `UNREADABLE`. */
const OF_PARSER: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers-too-large',
    detail: 'The request line and header fields together are too large.',
  },
  HPE_INVALID_URL: {
    code: 'invalid-url',
    detail: 'A URL has printable ASCII only; anything else must be percent-encoded UTF-8.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { code: 'body-too-large', detail: 'The extensions of a chunk are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request-timeout', detail: 'The request did not arrive in time.' },
};

/**
 * `curl 'http://…/search?q=кроссовки'` and simple clients send UTF-8 in the request target without escapes. Node's parser
 * refuses it correctly (RFC 3986), but nginx and most servers accept it, so the refusal looks like a fault of this service.
 * Such a request is escaped and given to the server again over a connection in memory.
 *
 * RFC 9112 §3 advises against correcting a request line, because a corrected line may pass a filter in front. A request is
 * accepted here only when it means the same as its escaped form and can hide nothing: the bytes are exactly one request
 * head, the method has no body, only bytes above ASCII are changed, and the connection ends with the answer.
 *
 * @returns whether the request is being answered.
 */
function answerRawTarget(connect: (stream: Duplex) => void, socket: Duplex, packet: Buffer | undefined): boolean {
  const head = packet === undefined ? undefined : escapedHead(packet.toString('latin1'));
  if (head === undefined) return false;
  const [inner, outer] = duplexPair();
  // client.ts reads the client's address from it.
  if ('remoteAddress' in socket) Object.assign(inner, { remoteAddress: socket.remoteAddress });
  connect(inner);
  outer.write(head);
  pipeline(outer, socket, () => {
    socket.destroy();
    outer.destroy();
  });
  return true;
}

function escapedHead(text: string): string | undefined {
  const parsed = /^((?:GET|HEAD) )(\/[\x21-\x7e\x80-\xff]*)( HTTP\/1\.[01]\r\n)((?:[^\r\n]+\r\n)*\r\n)$/.exec(text);
  if (parsed === null) return undefined;
  const [, method, target = '', version, fields] = parsed;
  const escaped = target.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return escaped === target ? undefined : `${method}${escaped}${version}Connection: close\r\n${fields}`;
}
