import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Fault, formatPath, MISSING, type Path, showValue } from '../schema/faults.ts';
import { type Config, type Draft, namedStores } from './schema.ts';

/** @throws as `readFileSync` does. */
export type ReadFile = (path: string) => string;

/** PEM texts, read from the configured files at start. */
export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

const PEM = /-----BEGIN [A-Z0-9 ]+-----/;

type DraftEngine = NonNullable<Draft<Config['domains'][string]['engine']>>;

/** The `tls` sections of the configuration, with their paths. */
function namedTls(config: Draft<Config>): readonly { readonly path: Path; readonly tls: Draft<TlsFiles> }[] {
  const all = [
    ...namedStores(config).map(({ path, store }) => ({ path: [...path, 'tls'], tls: store.tls })),
    ...Object.entries(config.domains ?? {}).map(([name, domain]) => ({
      path: ['domains', name, 'engine', 'tls'],
      tls: domain?.engine === undefined || domain.engine.kind === 'sqlite' ? undefined : domain.engine.tls,
    })),
    { path: ['admin', 'tls'], tls: config.admin?.tls },
  ];
  return all.flatMap(({ path, tls }) => (tls === undefined ? [] : [{ path, tls }]));
}

export type ReportFault = (path: Path, value: string, allowed: string) => void;

/** Faults between the values of each `tls` section. */
export function checkTls(config: Draft<Config>, report: ReportFault): void {
  for (const { path, tls } of namedTls(config)) {
    const { cert, key } = tls;
    if (cert !== undefined && key === undefined) report([...path, 'key'], MISSING, 'the private key of cert');
    if (key !== undefined && cert === undefined) report([...path, 'cert'], MISSING, 'the certificate of key');
  }
  for (const [name, domain] of Object.entries(config.domains ?? {})) {
    const address = domain?.engine && addressWithoutName(domain.engine);
    if (address === undefined) continue;
    const allowed = `the name in the server's certificate, as ${address} is an address`;
    report(['domains', name, 'engine', 'tls', 'serverName'], MISSING, allowed);
  }
}

/**
 * An address of the engine for which a `serverName` is missing: in the MySQL handshake a certificate is compared with a name
 * only, and for an address it would be compared with `localhost`.
 */
function addressWithoutName(engine: DraftEngine): string | undefined {
  if (engine.kind === 'sqlite' || engine.tls === undefined || engine.tls.serverName !== undefined) return undefined;
  if (tlsModeOf(engine.kind, engine.tls.mode) === 'tunnel') return undefined;
  const hosts = [engine.host, ...(engine.mirrors ?? []).map((mirror) => mirror?.host)];
  return hosts.find((host) => host !== undefined && isIP(host) !== 0);
}

/** Sphinx has no TLS of its own, so TLS to it needs a tunnel in front of it. */
export function tlsModeOf(kind: 'sphinx' | 'manticore', given: 'mysql' | 'tunnel' | undefined) {
  return given ?? (kind === 'sphinx' ? 'tunnel' : 'mysql');
}

/** Reads every file that a `tls` section names, so that a missing file is a fault at start and not at the first use. */
export function readTls(config: Draft<Config>, readFile: ReadFile, cwd: string) {
  /** PEM texts by the path of their `tls`. */
  const files = new Map<string, TlsFiles>();
  const faults: Fault[] = [];
  for (const { path, tls } of namedTls(config)) {
    const read = readTlsFiles(tls, { readFile, cwd }, (member, allowed) => {
      faults.push({ path: [...path, member], value: showValue(tls[member]), allowed });
    });
    files.set(formatPath(path), read);
  }
  return { files, faults };
}

/** The PEM texts of the files of one connection. `report` gets each that cannot be used. */
export function readTlsFiles(
  names: Draft<TlsFiles>,
  { readFile, cwd }: { readonly readFile: ReadFile; readonly cwd: string },
  report: (member: keyof TlsFiles, allowed: string) => void,
): TlsFiles {
  const textOf = (member: keyof TlsFiles): string | undefined => {
    const { [member]: name } = names;
    if (name === undefined) return undefined;
    try {
      const text = readFile(resolve(cwd, name));
      if (PEM.test(text)) return text;
      report(member, 'a PEM file (-----BEGIN …-----)');
    } catch (error) {
      report(member, `a file that can be read (${errorCodeOf(error)})`);
    }
    return undefined;
  };
  const [ca, cert, key] = [textOf('ca'), textOf('cert'), textOf('key')];
  if (cert !== undefined && key !== undefined && !fit(cert, key)) {
    report('key', 'the private key of cert, without a passphrase');
  }
  return { ca, cert, key };
}

/** Whether the key is the certificate's: a TLS context accepts both. */
function fit(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}

/** The code of an error, such as `ENOENT`. The message is never shown, because it may quote the file. */
export function errorCodeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : MISSING;
}
