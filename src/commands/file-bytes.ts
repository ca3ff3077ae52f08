import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

export interface FileBytes {
  readonly chunks: AsyncIterable<Buffer>;
  /** Of the file as it lies on disk. */
  readonly bytesRead: () => number;
}

/** The bytes of a file, `.gz` unpacked. Reading it rejects with a message that names the file. */
export function fileBytes(file: string, signal: AbortSignal): FileBytes {
  const raw = createReadStream(file, { signal });
  const unpacked = /\.gz$/i.test(file) ? raw.pipe(createGunzip()) : raw;
  // pipe() passes no errors on, and a loop over a stream that never ends would wait for ever.
  if (unpacked !== raw) raw.once('error', (error) => unpacked.destroy(error));
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of unpacked) yield chunk as Buffer;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`${file} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause });
    } finally {
      raw.destroy();
      unpacked.destroy();
    }
  }
  return { chunks: chunks(), bytesRead: () => raw.bytesRead };
}
