import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import type { Words } from '../arguments.ts';
import { UsageError } from '../arguments.ts';
import type { CommandContext } from '../command.ts';

export interface Access {
  readonly base: URL;
  readonly token: string | undefined;
}

/**
 * Where the admin listener is and what opens it: the words first, then the environment and the configuration, which are
 * the service's own when the command runs beside it. A token of the configuration is sent to no other address than its own.
 * @throws UsageError, ConfigError
 */
export function accessOf(words: Words, context: Pick<CommandContext, 'settings' | 'adminToken'>): Access {
  const given = words.text('admin');
  const file = words.text('token-file');
  const token = file === undefined ? context.adminToken : tokenIn(file);
  if (given !== undefined) return { base: addressIn(given), token };
  const { host, port, tls: secure, token: configured } = context.settings().admin;
  if (port === 0) throw new UsageError('the configured admin port is picked at each start: name it, --admin URL');
  return {
    base: new URL(`${secure === undefined ? 'http' : 'https'}://${reachable(host)}:${port}`),
    token: token ?? configured,
  };
}

function addressIn(given: string): URL {
  const base = URL.parse(/^[a-z]+:\/\//i.test(given) ? given : `http://${given}`);
  if (base === null || !['http:', 'https:'].includes(base.protocol) || base.username !== '' || base.search !== '') {
    throw new UsageError(`--admin takes an address such as http://127.0.0.1:8081, not "${given}"`);
  }
  return base;
}

/**
 * Trusts the authorities of `--ca-file` beside those that Node has already, in this process.
 * @throws UsageError
 */
export function trustAuthorities(words: Words): void {
  const file = words.text('ca-file');
  if (file === undefined) return;
  // A named import would keep every command from starting there.
  if (!('setDefaultCACertificates' in tls)) {
    throw new UsageError(`--ca-file needs Node 24.5 or newer; before, NODE_EXTRA_CA_CERTS=${file} does the same`);
  }
  try {
    const text = readFileSync(file, 'utf8');
    // Node takes a text without any certificate for an empty list.
    new X509Certificate(text);
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), text]);
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw new UsageError(`--ca-file ${file} is no PEM file of certificates that can be read: ${why}`);
  }
}

function tokenIn(file: string): string {
  let token: string;
  try {
    token = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--token-file ${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  if (/^[!-~]{1,512}$/.test(token)) return token;
  throw new UsageError(`--token-file ${file} holds no token: one line of printable characters without spaces`);
}

/** What a listener binds is not always what one connects to. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
