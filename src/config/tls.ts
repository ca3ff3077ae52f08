import { resolve } from 'node:path';
import { formatPath, MISSING, type Path, type RawFault, showValue } from './faults.ts';
import type { Config, Draft } from './schema.ts';
import type { TlsSettings } from './settings.ts';
import { namedStores } from './stores.ts';

/** @throws as `readFileSync` does. */
export type ReadFile = (path: string) => string;

export type TlsFiles = Pick<TlsSettings, 'ca' | 'cert' | 'key'>;

export interface TlsRead {
  /** PEM texts by the path of their store. */
  readonly files: ReadonlyMap<string, TlsFiles>;
  readonly faults: readonly RawFault[];
}

const PEM = /-----BEGIN [A-Z0-9 ]+-----/;

/** Reads every file a store's `tls` names, so that one that is missing is a fault at start and not at the first search. */
export function readTls(config: Draft<Config>, readFile: ReadFile, cwd: string): TlsRead {
  const files = new Map<string, TlsFiles>();
  const faults: RawFault[] = [];

  const readPem = (name: string | undefined, path: Path): string | undefined => {
    if (name === undefined) return undefined;
    try {
      const text = readFile(resolve(cwd, name));
      if (PEM.test(text)) return text;
      faults.push({ path, value: showValue(name), allowed: 'a PEM file (-----BEGIN …-----)' });
    } catch (error) {
      faults.push({ path, value: showValue(name), allowed: `a file that can be read (${reasonOf(error)})` });
    }
    return undefined;
  };

  for (const { path, store } of namedStores(config)) {
    if (store.tls === undefined) continue;
    const at: Path = [...path, 'tls'];
    const ca = readPem(store.tls.ca, [...at, 'ca']);
    const cert = readPem(store.tls.cert, [...at, 'cert']);
    const key = readPem(store.tls.key, [...at, 'key']);
    files.set(formatPath(path), {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  }
  return { files, faults };
}

/** `ENOENT`, never the message: it may quote what was read. */
export function reasonOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : MISSING;
}
