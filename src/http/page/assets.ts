import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface Asset {
  readonly body: Buffer;
  readonly type: string;
  /** Strong, with its quotes. */
  readonly etag: string;
}

export interface Assets {
  /** By the path asked for, with `/`. */
  readonly byPath: ReadonlyMap<string, Asset>;
  /** Changes when any file does. It is a part of every address, so that a new release never mixes with an old one. */
  readonly version: string;
  /** Modules in the order to preload, so that the browser asks for all of them at once. */
  readonly modules: readonly string[];
}

/** What is to be served of a folder: path below it, with `/` → file. */
export function filesIn(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => extname(path) in TYPES)
    .sort();
  return Object.fromEntries(paths.map((path) => [path.split(sep).join('/'), join(folder, path)]));
}

/**
 * Reads the files once: the process serves what it started with, whatever happens on disk.
 * @param files path asked for → file. The path's ending says the type.
 */
export function readAssets(files: Readonly<Record<string, string>>): Assets {
  const whole = createHash('sha256');
  const byPath = new Map<string, Asset>();
  for (const [path, file] of Object.entries(files)) {
    const body = readFileSync(file);
    whole.update(`${path}\0${body.length}\0`).update(body);
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
    byPath.set(path, { body, type: TYPES[extname(path)] ?? 'application/octet-stream', etag });
  }
  return {
    byPath,
    version: whole.digest('base64url').slice(0, 12),
    modules: Object.keys(files).filter((path) => path.endsWith('.mjs')),
  };
}
