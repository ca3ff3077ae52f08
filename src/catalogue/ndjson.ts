import { RowFault, shown } from './error.ts';
import { linesOf } from './lines.ts';
import type { RawRow } from './row.ts';
import { textOf } from './text.ts';

/** Rows of newline-delimited JSON: one object per line, blank lines skipped. */
export async function* ndjsonRows(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<RawRow, void, undefined> {
  for await (const { number, bytes } of linesOf(chunks, maxBytes)) {
    if (bytes === undefined) {
      yield {
        line: number,
        read: () => {
          throw new RowFault(`longer than ${maxBytes} bytes`);
        },
      };
    } else if (!isBlank(bytes)) {
      yield { line: number, read: () => objectOf(textOf(bytes)) };
    }
  }
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RowFault(`not JSON: ${shown(text)}; allowed: one object per line`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RowFault(`${shown(value)} is not an object; allowed: one object per line`);
  }
  return value as Readonly<Record<string, unknown>>;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
