import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { UsageError, type Words } from '../arguments.ts';
import type { CommandContext } from '../command.ts';

/** The admin API of one process. Everything rejects with AdminProblem, AdminUnreachable or the signal's reason. */
export interface AdminClient {
  readonly get: <T>(path: string, asking?: Asking) => Promise<T>;
  readonly post: <T>(path: string, body: unknown, asking?: Asking) => Promise<T>;
  readonly page: (path: string) => Promise<string>;
}

export interface Asking {
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Goes on although the command was told to stop: what takes something back must get there. */
  readonly evenIfStopped?: boolean;
  readonly deadlineMs?: number;
}

export interface AdminClientOptions {
  readonly base: URL;
  readonly token: string | undefined;
  readonly operator: string;
  readonly signal: AbortSignal;
}

/** A preview counts keys on every node of a store. */
const DEADLINE_MS = 60_000;

export function createAdminClient({ base, token, operator, signal }: AdminClientOptions): AdminClient {
  const send = async (method: 'GET' | 'POST', path: string, body: unknown, asking: Asking): Promise<Response> => {
    const { query = [], headers = {}, evenIfStopped = false, deadlineMs = DEADLINE_MS } = asking;
    const url = new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base);
    for (const [name, value] of query) url.searchParams.append(name, value);
    const tooLate = AbortSignal.timeout(deadlineMs);
    try {
      return await fetch(url, {
        method,
        headers: {
          ...headers,
          'x-operator': operator.replaceAll(/[^!-~]/g, '-').slice(0, 64),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // Elsewhere the token has no business.
        redirect: 'manual',
        signal: evenIfStopped ? tooLate : AbortSignal.any([signal, tooLate]),
      });
    } catch (error) {
      if (!evenIfStopped) signal.throwIfAborted();
      throw unreachable(base, error);
    }
  };

  const textOf = async (response: Response, evenIfStopped = false): Promise<string> => {
    try {
      return await response.text();
    } catch (error) {
      if (!evenIfStopped) signal.throwIfAborted();
      throw unreachable(base, error);
    }
  };

  const call = async <T>(method: 'GET' | 'POST', path: string, body: unknown, asking: Asking = {}): Promise<T> => {
    const response = await send(method, path, body, asking);
    const answer = parsed(await textOf(response, asking.evenIfStopped));
    if (response.ok && answer !== undefined) return answer as T;
    throw problemIn(response.status, answer) ?? stranger(base, response.status);
  };

  return {
    get: (path, asking) => call('GET', path, undefined, asking),
    post: (path, body, asking) => call('POST', path, body, asking),
    page: async (path) => {
      const response = await send('GET', path, undefined, {});
      const text = await textOf(response);
      if (response.ok) return text;
      throw problemIn(response.status, parsed(text)) ?? stranger(base, response.status);
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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

/** What the service answered instead of doing it, in its own words. */
export class AdminProblem extends Error {
  override readonly name = 'AdminProblem';
  readonly code: string;
  readonly status: number;

  constructor(problem: {
    code: string;
    status: number;
    title: string;
    detail: string;
    parameter?: string | undefined;
  }) {
    const { code, status, title, detail, parameter } = problem;
    super(`${title}: ${detail}${parameter === undefined ? '' : ` (field ${parameter})`}`);
    this.code = code;
    this.status = status;
  }
}

/** Nobody answered, or somebody else: whether it was done is not known. */
export class AdminUnreachable extends Error {
  override readonly name = 'AdminUnreachable';
}

const HOW = 'name the admin address: --admin URL, or ADMIN_HOST and ADMIN_PORT';

export function unreachable(base: URL, cause: unknown): AdminUnreachable {
  const known = reasonOf(cause);
  const reason = known === CLOSED && base.protocol === 'http:' ? `${known}; perhaps it speaks https://` : known;
  return new AdminUnreachable(`no answer from ${base.origin} (${reason}); is serpcache running there? If not, ${HOW}`, {
    cause,
  });
}

export function stranger(base: URL, status: number): AdminUnreachable {
  return new AdminUnreachable(`${base.origin} answered ${status}, and not as serpcache's admin listener does; ${HOW}`);
}

/** An answer that says what was wrong (RFC 9457), or undefined for anything else. */
export function problemIn(status: number, body: unknown): AdminProblem | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { code, title, detail, parameter } = body as Readonly<Record<string, unknown>>;
  if (typeof code !== 'string' || typeof title !== 'string') return undefined;
  return new AdminProblem({
    code,
    status,
    title,
    detail: `${typeof detail === 'string' ? detail : ''}${ADVICE[code] ?? ''}`,
    parameter: typeof parameter === 'string' ? parameter : undefined,
  });
}

/** What the service cannot know about this side. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: ' Here: set ADMIN_TOKEN, or name a file that holds it: --token-file.',
  'wrong-token': ' Here: it came from ADMIN_TOKEN or --token-file.',
  'too-many-tokens': ' Here: it came from ADMIN_TOKEN or --token-file.',
  'not-found': ` Perhaps this is the public listener: ${HOW}.`,
};

const CLOSED = 'connection closed';
const UNTRUSTED = 'nobody trusted has signed its certificate: --ca-file names whom to trust';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: CLOSED,
  UND_ERR_SOCKET: CLOSED,
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'no route to the host',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks no TLS: http:// instead of https://',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it took too long';
  const { cause = error } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? (cause instanceof Error ? cause.message || code : String(cause));
}
