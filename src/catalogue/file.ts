import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { CatalogueError, RowFault } from './row.ts';

/**
 * The bytes of a file; a file named `.gz` or `.zst` is unpacked. Reading rejects with a message that names the file, or with
 * the signal's reason when it is aborted.
 */
export function fileBytes(file: string, signal: AbortSignal) {
  const { chunks, bytesRead } = openBytes(file, signal);
  async function* named(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* chunks;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`${file} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  }
  return { chunks: named(), bytesRead };
}

/** Byte order marks. Spreadsheets write UTF-16 when they save "Unicode text". */
const MARKS: readonly (readonly [mark: string, encoding: string])[] = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
];
const FORMATS: Readonly<Record<string, 'json' | 'csv' | 'xml'>> = {
  ndjson: 'json',
  jsonl: 'json',
  json: 'json',
  csv: 'csv',
  tsv: 'csv',
  txt: 'csv',
  xml: 'xml',
  yml: 'xml',
};

interface OpenOptions {
  readonly signal: AbortSignal | undefined;
  /** The name of an encoding, for a file that does not name its own. */
  readonly encoding: string | undefined;
}

/**
 * The bytes of a catalogue file in UTF-8, unpacked, without a byte order mark.
 * @throws CatalogueError for a name of unknown format and for a file that cannot be read.
 */
export async function openCatalogueFile(file: string, { signal, encoding }: OpenOptions) {
  const format = FORMATS[/\.([a-z]+)(?:\.gz|\.zst)?$/i.exec(file)?.[1]?.toLowerCase() ?? ''];
  if (format === undefined) {
    const allowed = `.${Object.keys(FORMATS).join(', .')}, each also with .gz or .zst`;
    throw new CatalogueError(file, `unknown format; allowed: ${allowed}`);
  }
  const about = await stat(file).catch((cause: unknown) => {
    throw new CatalogueError(file, `cannot be read: ${readFault(cause)}`, {}, { cause });
  });
  if (!about.isFile()) throw new CatalogueError(file, 'not a file');

  const { chunks, bytesRead } = openBytes(file, signal);
  async function* decoded(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* inUtf8(chunks, format === 'xml' ? DECLARED : undefined, encoding);
    } catch (cause) {
      signal?.throwIfAborted();
      throw new CatalogueError(file, `cannot be read: ${readFault(cause)}`, {}, { cause });
    }
  }
  /** `totalBytes`: of the file on disk, before unpacking: progress is `bytesRead` divided by it. */
  return { format, chunks: decoded(), totalBytes: about.size, bytesRead };
}

/** Reading rejects with the error of the file system, gzip or zstd. The file is closed when reading ends early. */
function openBytes(file: string, signal: AbortSignal | undefined) {
  const raw = createReadStream(file, { signal });
  // pipeline(), unlike pipe(), passes the errors of `raw` on: without that, the loop below would wait forever.
  const unpack = /\.gz$/i.test(file) ? createGunzip() : /\.zst$/i.test(file) ? createZstdDecompress() : undefined;
  const unpacked = unpack === undefined ? raw : pipeline(raw, unpack, () => undefined);
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of unpacked as AsyncIterable<Buffer>) yield chunk;
    } finally {
      raw.destroy();
    }
  }
  /** `bytesRead`: from the disk so far, before unpacking. */
  return { chunks: chunks(), bytesRead: () => raw.bytesRead };
}

/** The declaration of XML names the encoding. */
const DECLARED = /^\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']+)/;
const HEAD_BYTES = 200;

/** The encoding is that of the byte order mark, else `named`, else the declared one, else UTF-8. */
async function* inUtf8(
  chunks: AsyncIterable<Buffer>,
  declared: RegExp | undefined,
  named: string | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  let decoder: TextDecoder | undefined;
  let isFirst = true;
  for await (const chunk of chunks) {
    const text = isFirst ? chunk.toString('latin1', 0, HEAD_BYTES) : '';
    const [mark = '', marked] = MARKS.find(([sign]) => text.startsWith(sign)) ?? [];
    const encoding = marked ?? named ?? declared?.exec(text)?.[1] ?? 'utf-8';
    // Without a declaration bytes of UTF-8 stay bytes, so that a bad one is an error of its row.
    if (isFirst && (declared !== undefined || !/^utf-?8$/i.test(encoding))) {
      decoder = new TextDecoder(encoding, { fatal: true });
    }
    isFirst = false;
    const bytes = chunk.subarray(mark.length);
    yield decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }));
  }
  decoder?.decode();
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'no permission',
  Z_DATA_ERROR: 'damaged, or not packed with gzip',
  ZSTD_error_prefix_unknown: 'damaged, or not packed with zstd',
  Z_BUF_ERROR: 'the packed file ends too early',
  ERR_ENCODING_NOT_SUPPORTED: 'unknown encoding; allowed: a name such as windows-1251 or utf-16le',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'not of its encoding; give the right one: --encoding NAME',
};

function readFault(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
}

/** The first chunk of a stream, and the whole stream again. */
export async function peeked(chunks: AsyncGenerator<Buffer, void, undefined>) {
  const first = (await chunks.next()).value ?? Buffer.alloc(0);
  async function* whole(): AsyncGenerator<Buffer, void, undefined> {
    yield first;
    yield* chunks;
  }
  return { first, whole: whole() };
}

/** Maximum length of a line, of a row in CSV and of a product in XML. */
export const MAX_ROW_BYTES = 2 ** 20;

/** One line of a file, without its line end. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Absent for a line longer than the maximum; such a line is not kept. */
  readonly bytes?: Buffer;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Lines of a stream; a line ends with LF or CRLF. Holds one chunk and at most `maxBytes` of an unfinished line. */
export async function* fileLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line, void, undefined> {
  let number = 1;
  const kept = createKept(maxBytes);
  const take = (): Line => {
    const { bytes } = kept.take(number);
    const line = { number, bytes: bytes?.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes };
    number += 1;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      kept.add(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    if (start < chunk.length) kept.add(chunk.subarray(start));
  }
  if (kept.size() > 0) yield take();
}

/** The parts of one line. Beyond the maximum only their length is counted. */
function createKept(maxBytes: number) {
  let parts: Buffer[] = [];
  let size = 0;
  return {
    size: () => size,
    add: (part: Buffer): void => {
      size += part.length;
      if (size <= maxBytes) parts.push(part);
      else parts = [];
    },
    take: (number: number): Line => {
      const [only] = parts;
      const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
      const line: Line = size > maxBytes ? { number } : { number, bytes };
      parts = [];
      size = 0;
      return line;
    },
  };
}

/** The objects of a JSON array, each as a line from its opening to its closing brace; another value as one, for its fault. */
export async function* objectsOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line, void, undefined> {
  let [number, begun, depth] = [1, 1, 0];
  let [isInString, isEscaped, isOther] = [false, false, false];
  const kept = createKept(maxBytes);
  for await (const chunk of chunks) {
    let start = 0;
    for (const [at, byte] of chunk.entries()) {
      if (byte === NEWLINE) number += 1;
      if (isInString) {
        if (!isEscaped && byte === QUOTE) isInString = false;
        isEscaped = !isEscaped && byte === BACKSLASH;
        continue;
      }
      if (depth === 0 && byte === OPEN) [start, begun] = [at, number];
      if (byte === QUOTE) isInString = true;
      else if (byte === OPEN) depth += 1;
      else if (byte === CLOSE && depth > 0) {
        depth -= 1;
        if (depth > 0) continue;
        kept.add(chunk.subarray(start, at + 1));
        yield kept.take(begun);
        isOther = false;
        continue;
      }
      const isPart = depth > 0 || byte <= SPACE || byte === COMMA || byte === OPEN_LIST || byte === CLOSE_LIST;
      if (!isPart && !isOther) yield { number, bytes: chunk.subarray(at, at + 40) };
      isOther = !isPart || (isOther && byte !== COMMA);
    }
    if (depth > 0) kept.add(chunk.subarray(start));
  }
  if (depth > 0) yield kept.take(begun);
}

const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x7b, 0x7d];
const [SPACE, COMMA, OPEN_LIST, CLOSE_LIST] = [0x20, 0x2c, 0x5b, 0x5d];

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws RowFault when the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new RowFault('not valid UTF-8; allowed: text saved as UTF-8, or give its encoding: --encoding windows-1251');
  }
}
