import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import tls from 'node:tls';
import { messageOf, type ParsedArguments, readTextFile, UsageError } from './arguments.ts';
import type { CommandContext } from './command.ts';

export type AdminClient = ReturnType<typeof createAdminClient>;

interface RequestOptions {
  /** A parameter whose value is undefined is left out. */
  readonly query?: readonly (readonly [name: string, value: string | number | undefined])[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The request is sent even after the command was told to stop: a request that undoes something must arrive. */
  readonly evenIfStopped?: boolean;
  readonly deadlineMs?: number;
}

type AdminClientOptions = Access & Pick<CommandContext, 'operator' | 'signal'>;

/** Maximum time of a request: a preview counts keys on every node of a store. */
const DEADLINE_MS = 60_000;

/** The admin API of one process. Each call rejects with AdminProblem, AdminUnreachable or the signal's reason. */
export function createAdminClient({ base, token, operator, signal }: AdminClientOptions) {
  /** @param read the result in the text of a good answer; undefined when it is no answer of the admin listener. */
  const request = async <T>(
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    read: (text: string) => T | undefined,
    options: RequestOptions = {},
  ): Promise<T> => {
    const { query = [], headers = {}, evenIfStopped = false, deadlineMs = DEADLINE_MS } = options;
    const url = new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base);
    for (const [name, value] of query) if (value !== undefined) url.searchParams.append(name, String(value));
    const tooLate = AbortSignal.timeout(deadlineMs);
    let response: Response;
    let text: string;
    const sent: Record<string, string> = {
      ...headers,
      'x-operator': operator.replaceAll(/[^!-~]/g, '-').slice(0, 64),
    };
    if (token !== undefined) sent['authorization'] = `Bearer ${token}`;
    const isLines = Buffer.isBuffer(body);
    if (body !== undefined) sent['content-type'] = isLines ? 'application/x-ndjson' : 'application/json';
    try {
      response = await fetch(url, {
        method,
        headers: sent,
        body: isLines ? new Uint8Array(body) : JSON.stringify(body),
        // A redirect would send the token to another address.
        redirect: 'manual',
        signal: evenIfStopped ? tooLate : AbortSignal.any([signal, tooLate]),
      });
      text = await response.text();
    } catch (error) {
      if (!evenIfStopped) signal.throwIfAborted();
      throw unreachable(base, error);
    }
    const result = response.ok ? read(text) : undefined;
    if (result !== undefined) return result;
    throw problemIn(response.status, parsed(text)) ?? foreignAnswer(base, response.status);
  };

  return {
    get: <T>(path: string, options?: RequestOptions) => request<T>('GET', path, undefined, parsed, options),
    post: <T>(path: string, body: unknown, options?: RequestOptions) => request<T>('POST', path, body, parsed, options),
    page: (path: string) => request('GET', path, undefined, (text) => text),
  };
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Access {
  readonly base: URL;
  readonly token: string | undefined;
}

/**
 * The address of the admin listener and its token: from the arguments, else from the environment and the configuration,
 * which are the service's own when the command runs on its machine. The configured token is sent to the configured
 * address only.
 * @throws UsageError, ConfigError
 */
export function accessOf(args: ParsedArguments, context: Pick<CommandContext, 'settings' | 'adminToken'>): Access {
  const given = args.text('admin');
  const file = args.text('token-file');
  const token = file === undefined ? context.adminToken : tokenIn(file);
  if (given !== undefined) return { base: addressIn(given), token };
  const { host, port, tls: secure, token: configured } = context.settings().admin;
  if (port === 0)
    throw new UsageError('the configured admin port is chosen at each start: give the address, --admin URL');
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
 * Trusts the authorities of `--ca-file`, in addition to those of Node, in this process.
 * @throws UsageError
 */
export function trustAuthorities(args: ParsedArguments): void {
  const file = args.text('ca-file');
  if (file === undefined) return;
  // Older versions of Node lack the function; a named import would prevent every command from starting there.
  if (!('setDefaultCACertificates' in tls)) {
    throw new UsageError(`--ca-file needs Node 24.5 or newer; with an older one, set NODE_EXTRA_CA_CERTS=${file}`);
  }
  try {
    const text = readFileSync(file, 'utf8');
    // The constructor throws for a text without a certificate, which Node would accept as an empty list.
    new X509Certificate(text);
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), text]);
  } catch (error) {
    throw new UsageError(`--ca-file ${file} is not a readable PEM file of certificates: ${messageOf(error)}`);
  }
}

function tokenIn(file: string): string {
  const token = readTextFile(file, `--token-file ${file}`).trim();
  if (/^[!-~]{1,512}$/.test(token)) return token;
  throw new UsageError(`--token-file ${file} holds no token: one line of printable characters without spaces`);
}

/** The address to connect to, for the address that a listener binds. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** The service refused the request; the message is the text of its answer. */
export class AdminProblem extends Error {
  override readonly name = 'AdminProblem';
  readonly code: string;
  readonly status: number;
  /** The wrong lines of a body in which no line was right. */
  readonly refused: readonly { readonly line: number; readonly detail: string }[] | undefined;

  constructor(code: string, status: number, message: string, refused?: AdminProblem['refused']) {
    super(message);
    this.code = code;
    this.status = status;
    this.refused = refused;
  }
}

/** No answer, or an answer of another program: the outcome of the request is unknown. */
export class AdminUnreachable extends Error {
  override readonly name = 'AdminUnreachable';
}

const ADDRESS_HINT = 'name the admin address: --admin URL, or ADMIN_HOST and ADMIN_PORT';

function unreachable(base: URL, cause: unknown): AdminUnreachable {
  const known = reasonOf(cause);
  const reason = known === CLOSED && base.protocol === 'http:' ? `${known}; perhaps it speaks https://` : known;
  const message = `no answer from ${base.origin} (${reason}); is serpcache running there? If not, ${ADDRESS_HINT}`;
  return new AdminUnreachable(message, { cause });
}

function foreignAnswer(base: URL, status: number): AdminUnreachable {
  return new AdminUnreachable(
    `${base.origin} answered ${status}, and not as serpcache's admin listener does; ${ADDRESS_HINT}`,
  );
}

/** The problem in an RFC 9457 answer, or undefined for any other answer. */
function problemIn(status: number, body: unknown): AdminProblem | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { code, title, detail, parameter, refused } = body as Readonly<Record<string, unknown>>;
  if (typeof code !== 'string' || typeof title !== 'string') return undefined;
  const field = typeof parameter === 'string' ? ` (field ${parameter})` : '';
  const text = `${title}: ${typeof detail === 'string' ? detail : ''}${ADVICE[code] ?? ''}${field}`;
  return new AdminProblem(code, status, text, Array.isArray(refused) ? refused : undefined);
}

/** Advice about this command's own options, which the service does not know. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: ' Here: set ADMIN_TOKEN, or name a file that holds it: --token-file (of the demo: data/admin-token).',
  'wrong-token': ' Here: it came from ADMIN_TOKEN or --token-file.',
  'too-many-tokens': ' Here: it came from ADMIN_TOKEN or --token-file.',
  'not-found': ` Perhaps this is the public listener: ${ADDRESS_HINT}.`,
};

const CLOSED = 'connection closed';
const UNTRUSTED = 'its certificate is not signed by a trusted authority: --ca-file names one';

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

/** Rejects with the signal's own reason, such as "stopped by SIGINT"; the timer of Node rejects with an AbortError. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
