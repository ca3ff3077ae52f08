import { promisify } from 'node:util';
import { constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';

/** Content codings an entry may be stored and served in. */
export type Coding = 'identity' | 'gzip' | 'zstd';

const gzipAsync = promisify(gzip);
const gunzipAsync = promisify(gunzip);
const zstdCompressAsync = promisify(zstdCompress);
const zstdDecompressAsync = promisify(zstdDecompress);

/** Suffix of an entry's ETag in each coding: the same page in two codings is two representations (RFC 9110 §8.8.3). */
export const ETAG_SUFFIX: Readonly<Record<Coding, string>> = { identity: '', gzip: '-gz', zstd: '-zst' };

/** On the thread pool: a page costs the loop nothing while it is compressed. */
export async function compress(identity: Buffer, coding: Coding): Promise<Buffer> {
  switch (coding) {
    case 'identity':
      return identity;
    case 'gzip':
      return gzipAsync(identity, { level: 6 });
    case 'zstd':
      return zstdCompressAsync(identity, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
  }
}

/** @throws when the body is not of that coding or inflates past `maxBytes`. */
export async function decompress(body: Buffer, coding: Coding, maxBytes: number): Promise<Buffer> {
  switch (coding) {
    case 'identity':
      return body;
    case 'gzip':
      return gunzipAsync(body, { maxOutputLength: maxBytes });
    case 'zstd':
      return zstdDecompressAsync(body, { maxOutputLength: maxBytes });
  }
}
