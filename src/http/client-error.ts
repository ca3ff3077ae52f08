import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { Problem } from './problem.ts';
import { problemResponse } from './problem-response.ts';
import { answerRawTarget } from './raw-target.ts';

/**
 * Answers what node's parser refused before there was a request: a broken request line, headers that overflow, a half
 * request that never went on. It is the sender's fault, so it is never an error in the log.
 */
export function createClientErrorHandler(options: {
  readonly log: Logger;
  readonly random: () => number;
  /** Gives the server a connection that is not from its listener. */
  readonly connect: (stream: Duplex) => void;
  /** Told of each request that did not arrive in time. */
  readonly onSlow: () => void;
}): (error: Error, socket: Duplex) => void {
  /** Already being answered: what their parsers still complain about is of no interest. */
  const answered = new WeakSet<Duplex>();

  return (error, socket) => {
    if (answered.has(socket)) return;
    const { code = 'unknown', rawPacket } = error as NodeJS.ErrnoException & { readonly rawPacket?: Buffer };
    options.log.debug({ fault: code }, 'unreadable request');
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') options.onSlow();
    // A reply under way on this connection must not get another one in its middle.
    const busy = (socket as { readonly _httpMessage?: { readonly headersSent: boolean } | null })._httpMessage;
    if (code === 'ECONNRESET' || !socket.writable || busy?.headersSent) {
      socket.destroy();
      return;
    }
    if (code === 'HPE_INVALID_URL' && !busy && answerRawTarget(options.connect, socket, rawPacket)) {
      answered.add(socket);
      return;
    }
    const { status, headers, body } = problemResponse(problemOfParser(code), undefined, options.random);
    const fields = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\n${fields.join('')}\r\n${body}`;
    socket.end(text, () => socket.destroy());
  };
}

const REASONS: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

function problemOfParser(code: string): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'headers-too-large', detail: 'The request line and header fields together are too large.' };
    case 'HPE_INVALID_URL':
      return {
        code: 'invalid-url',
        detail: 'A URL has printable ASCII only; anything else must be percent-encoded UTF-8.',
      };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'body-too-large', detail: 'The extensions of a chunk are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request-timeout', detail: 'The request did not arrive in time.' };
    default:
      return { code: 'invalid-request', detail: 'The bytes received are not an HTTP/1.1 request.' };
  }
}
