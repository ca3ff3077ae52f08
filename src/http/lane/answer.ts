import { STATUS_CODES } from 'node:http';

/** An answer as bytes. Its text is ASCII: field values are made by this service. */
export interface RawAnswer {
  readonly status: number;
  /** Names and values in turn, as `writeHead` takes them. */
  readonly fields: readonly string[];
  readonly body: Buffer | undefined;
}

export function encodeAnswer({ status, fields, body }: RawAnswer, connection: string): Buffer {
  const head = encodeHead(status, fields, connection);
  if (body === undefined) return Buffer.from(head, 'latin1');
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, 'latin1');
  body.copy(bytes, head.length);
  return bytes;
}

/** The status line and the fields in Node's order, Date and Connection last. @param connection see `connectionFields`. */
export function encodeHead(status: number, fields: readonly string[], connection: string): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let at = 0; at < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${head}Date: ${dateNow()}\r\n${connection}\r\n`;
}

/** The fields by which Node keeps a connection open. */
export function connectionFields(keepAliveTimeoutMs: number): string {
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n`;
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
