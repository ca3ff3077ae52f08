import { RowFault } from './error.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws RowFault when the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new RowFault('not valid UTF-8; allowed: text saved as UTF-8');
  }
}
