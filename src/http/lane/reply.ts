import { type OutgoingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Fields in turn: name, value, name, value. Names and values are ASCII, because this service makes them. */
type Fields = readonly string[];

/** A head that many answers share, all but the value of one field. */
export interface SharedHead {
  readonly status: number;
  readonly fields: Fields;
  /** The place of the value that differs, in `fields`. */
  readonly ownAt: number;
  /** False: it is sent once, so that its bytes are not worth keeping. */
  readonly isKept: boolean;
  /** Used as long as the Date in it is the current one. */
  bytes:
    | { readonly date: string; readonly connection: string; readonly before: Buffer; readonly after: Buffer }
    | undefined;
}

/** The connection that waits for an answer. */
interface ReplyTo {
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

/** The field that Node adds to the last answer of a connection. */
const CLOSES = 'Connection: close\r\n';

/** The fields that Node adds to an answer after which the connection stays open. */
export function keepAliveFields(timeoutMs: number): string {
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(timeoutMs / 1000)}\r\n`;
}

/** The status line and the fields in Node's order: Date and Connection last. */
function encodeHead(status: number, fields: Fields, connection: string): string {
  return `${statusLine(status)}${linesOf(fields)}Date: ${dateNow()}\r\n${connection}\r\n`;
}

/** The text of a shared head before its own value. */
function textBefore({ status, fields, ownAt }: SharedHead): string {
  return `${statusLine(status)}${linesOf(fields, 0, ownAt - 1)}${fields[ownAt - 1]}: `;
}

/** The text of a shared head after its own value. */
function textAfter({ fields, ownAt }: SharedHead, connection: string): string {
  return `\r\n${linesOf(fields, ownAt + 1)}Date: ${dateNow()}\r\n${connection}\r\n`;
}

/** The same two parts as bytes, which are kept for a second. */
function sharedBytes(head: SharedHead, connection: string): NonNullable<SharedHead['bytes']> {
  const date = dateNow();
  const known = head.bytes;
  if (known !== undefined && known.date === date && known.connection === connection) return known;
  const before = Buffer.from(textBefore(head), 'latin1');
  const after = Buffer.from(textAfter(head, connection), 'latin1');
  head.bytes = { date, connection, before, after };
  return head.bytes;
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
}

function linesOf(fields: Fields, from = 0, to = fields.length): string {
  let lines = '';
  for (let at = from; at < to; at += 2) lines += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return lines;
}

let [date, dateUntilMs] = ['', 0];

/** The Date field, computed once a second. */
function dateNow(): string {
  const nowMs = Date.now();
  if (nowMs >= dateUntilMs || nowMs < dateUntilMs - 1000) {
    date = new Date(nowMs).toUTCString();
    dateUntilMs = nowMs - (nowMs % 1000) + 1000;
  }
  return date;
}

const SCRATCH_BYTES = 64 * 1024;
/** Larger bodies are written from where they are; copying them would take longer than a second part of the write. */
const COPIED_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

type Output = ReturnType<typeof createOutput>;

/** The answers of one turn for one socket, written together. All connections share one, because a turn serves one of them. */
export function createOutput(hold: (socket: Socket, bytes: number) => () => void) {
  let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  let [used, total] = [0, 0];
  /** Everything that was appended before the present contents of `scratch`. */
  let parts: Buffer[] = [];

  const room = (bytes: number): void => {
    if (scratch.length - used >= bytes) return;
    setAside();
    if (bytes > scratch.length) scratch = Buffer.allocUnsafeSlow(bytes);
  };
  const setAside = (): void => {
    if (used === 0) return;
    parts.push(scratch.subarray(0, used));
    scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
    used = 0;
  };
  const appendBody = (body: Buffer | undefined): void => {
    if (body === undefined) return;
    if (body.length > COPIED_BYTES) {
      setAside();
      parts.push(body);
    } else {
      room(body.length);
      scratch.set(body, used);
      used += body.length;
    }
    total += body.length;
  };

  return {
    /** @param own the text between both parts of a shared head; ASCII. */
    append: (before: Buffer, own: string, after: Buffer, body: Buffer | undefined): void => {
      const bytes = before.length + own.length + after.length;
      room(bytes);
      scratch.set(before, used);
      scratch.write(own, used + before.length, 'latin1');
      scratch.set(after, used + before.length + own.length);
      used += bytes;
      total += bytes;
      appendBody(body);
    },
    appendText: (head: string, body: Buffer | undefined): void => {
      room(head.length);
      scratch.write(head, used, 'latin1');
      used += head.length;
      total += head.length;
      appendBody(body);
    },
    /** Bytes that `write` would write. */
    length: (): number => total,
    /** Forgets what was appended. */
    drop: (): void => {
      [used, total] = [0, 0];
      parts = [];
    },
    /** @returns false when the kernel has not taken all bytes. */
    write: (socket: Socket): boolean => {
      if (total === 0) return true;
      if (parts.length > 0) setAside();
      // Before the write, so that no bytes are left for another client when it throws.
      const [whole, written, texts] = [used, total, parts];
      [used, total, parts] = [0, 0, []];
      if (texts.length === 0) socket.write(scratch.subarray(0, whole));
      else {
        socket.cork();
        for (const part of texts) socket.write(part);
        socket.uncork();
      }
      if (socket.writableLength === 0) return true;
      // The socket still reads these bytes.
      scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
      const release = hold(socket, Math.min(written, socket.writableLength));
      // Its callback runs when the bytes before it were sent.
      socket.write(NOTHING, release);
      return false;
    },
  };
}
