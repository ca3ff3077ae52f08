import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { CLOSES, encodeHead, type Fields, type SharedHead, sharedBytes, textAfter, textBefore } from './answer.ts';
import type { Output } from './output.ts';

/** The connection that waits for an answer. */
export interface ReplyTo {
  readonly socket: Socket;
  /** The fields of an answer after which the connection stays open. */
  readonly keepsAlive: () => string;
  /** Called once, when the whole answer is in the output of the reply. */
  readonly answered: (reply: LaneReply) => void;
}

/** The response of one request in the lane. It has what answers use of Node's `ServerResponse`, with the same meaning. */
export class LaneReply {
  headersSent = false;
  isDone = false;
  /** Gets the bytes of the answer. */
  output: Output;
  shouldKeepAlive = true;
  /** The lane itself counts the bytes that a slow client has not read. */
  readonly writableFinished = true;
  readonly writableLength = 0;
  readonly #to: ReplyTo;
  readonly #isHead: boolean;
  #status = 200;
  #fields: Fields = [];

  constructor(to: ReplyTo, output: Output, isHead: boolean) {
    this.#to = to;
    this.output = output;
    this.#isHead = isHead;
  }

  /** A client that has closed its side gets no further answer, as with Node. */
  get destroyed(): boolean {
    return this.#to.socket.destroyed;
  }

  once(): this {
    return this;
  }

  writeHead(status: number, fields: string[] | OutgoingHttpHeaders): this {
    this.headersSent = true;
    this.#status = status;
    this.#fields = Array.isArray(fields)
      ? fields
      : Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
    return this;
  }

  end(body?: Buffer | string): this {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const head = encodeHead(this.#status, this.#fields, this.#connection());
    this.output.appendText(head, this.#isHead ? undefined : bytes);
    this.#finish();
    return this;
  }

  /** An answer whose head is shared with other requests. @param own the value of the field that differs. */
  sendShared(head: SharedHead, own: string, body: Buffer | undefined): void {
    this.headersSent = true;
    const sent = this.#isHead ? undefined : body;
    const connection = this.#connection();
    if (head.isKept) {
      const { before, after } = sharedBytes(head, connection);
      this.output.append(before, own, after, sent);
    } else this.output.appendText(textBefore(head) + own + textAfter(head, connection), sent);
    this.#finish();
  }

  #connection(): string {
    return this.shouldKeepAlive ? this.#to.keepsAlive() : CLOSES;
  }

  #finish(): void {
    this.isDone = true;
    this.#to.answered(this);
  }
}
