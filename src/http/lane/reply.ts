import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { connectionFields, encodeAnswer } from './answer.ts';

/** The response of one request in the lane: what a search needs of Node's own, collected into the bytes of one answer. */
export function createLaneReply(options: {
  readonly socket: Socket;
  readonly isHead: boolean;
  readonly keepAliveTimeoutMs: number;
  readonly done: (answer: Buffer) => void;
}) {
  const { socket, isHead, keepAliveTimeoutMs, done } = options;
  let [status, fields] = [200, [] as readonly string[]];
  const reply = {
    get destroyed() {
      return socket.destroyed;
    },
    headersSent: false,
    shouldKeepAlive: true,
    // The lane itself counts the bytes that a slow client has not read.
    writableFinished: true,
    writableLength: 0,
    once: () => reply,
    writeHead: (code: number, given: readonly string[] | OutgoingHttpHeaders) => {
      status = code;
      fields = Array.isArray(given) ? given : Object.entries(given).flatMap(([name, value]) => [name, String(value)]);
      reply.headersSent = true;
      return reply;
    },
    end: (body?: Buffer) => {
      done(encodeAnswer({ status, fields, body: isHead ? undefined : body }, connectionFields(keepAliveTimeoutMs)));
      return reply;
    },
  };
  return reply;
}
