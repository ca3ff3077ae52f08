import { STATUS_CODES } from 'node:http';

/** Fields in turn: name, value, name, value. Names and values are ASCII, because this service makes them. */
export type Fields = readonly string[];

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

/** The field that Node adds to the last answer of a connection. */
export const CLOSES = 'Connection: close\r\n';

/** The fields that Node adds to an answer after which the connection stays open. */
export function keepAliveFields(timeoutMs: number): string {
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(timeoutMs / 1000)}\r\n`;
}

/** The status line and the fields in Node's order: Date and Connection last. */
export function encodeHead(status: number, fields: Fields, connection: string): string {
  return `${statusLine(status)}${linesOf(fields)}Date: ${dateNow()}\r\n${connection}\r\n`;
}

/** The text of a shared head before its own value. */
export function textBefore({ status, fields, ownAt }: SharedHead): string {
  return `${statusLine(status)}${linesOf(fields, 0, ownAt - 1)}${fields[ownAt - 1]}: `;
}

/** The text of a shared head after its own value. */
export function textAfter({ fields, ownAt }: SharedHead, connection: string): string {
  return `\r\n${linesOf(fields, ownAt + 1)}Date: ${dateNow()}\r\n${connection}\r\n`;
}

/** The same two parts as bytes, which are kept for a second. */
export function sharedBytes(head: SharedHead, connection: string): NonNullable<SharedHead['bytes']> {
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
