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
