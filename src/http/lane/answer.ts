import { STATUS_CODES } from 'node:http';

/** Fields in turn: name, value, name, value. Names and values are ASCII, because this service makes them. */
export type Fields = readonly string[];

/**
 * A head that many answers share, all but the value of one field.
 * `bytes` is filled by the lane and used as long as the Date in it is the current one.
 */
export interface SharedHead {
  readonly status: number;
  readonly fields: Fields;
  /** The place of the value that differs, in `fields`. */
  readonly ownAt: number;
  bytes?: { readonly date: string; readonly connection: string; readonly before: Buffer; readonly after: Buffer };
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

/** The parts of a shared head before and after its own value. */
export function sharedBytes(head: SharedHead, connection: string): NonNullable<SharedHead['bytes']> {
  const date = dateNow();
  const known = head.bytes;
  if (known !== undefined && known.date === date && known.connection === connection) return known;
  const { status, fields, ownAt } = head;
  const before = `${statusLine(status)}${linesOf(fields.slice(0, ownAt - 1))}${fields[ownAt - 1]}: `;
  const after = `\r\n${linesOf(fields.slice(ownAt + 1))}Date: ${date}\r\n${connection}\r\n`;
  head.bytes = { date, connection, before: Buffer.from(before, 'latin1'), after: Buffer.from(after, 'latin1') };
  return head.bytes;
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
}

function linesOf(fields: Fields): string {
  let lines = '';
  for (let at = 0; at < fields.length; at += 2) lines += `${fields[at]}: ${fields[at + 1]}\r\n`;
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
