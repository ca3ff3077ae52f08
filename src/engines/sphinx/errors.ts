import { type EngineReason, SearchError } from '../../resilience/search-error.ts';

interface ForeignError {
  readonly message: string;
  /** searchd's errno; 1064 for nearly everything. */
  readonly errno?: number;
  /** The name that mysql2 or the system gives it: `ECONNREFUSED`, `PROTOCOL_CONNECTION_LOST`. */
  readonly code?: string;
}

const AGENT = /\bagent \S+: /;
/** The agent is alive and refused the query. */
const AGENT_REFUSAL = /\bagent \S+: remote query error: /;

/**
 * The first rule that matches decides. Messages come before numbers, because searchd answers 1064 both to a syntax error
 * and for a distributed index whose agents are all dead.
 */
const RULES: readonly (readonly [EngineReason, when: (error: ForeignError) => boolean])[] = [
  ['engine-unavailable', ({ message }) => isAgentFault(message)],
  // Sphinx refuses connections with 1040, Manticore queries with 1047, which is also "unknown command".
  ['engine-overloaded', ({ errno, message }) => errno === 1040 || /maxed out|too many conn/i.test(message)],
  ['engine-timeout', ({ code }) => code === 'PROTOCOL_SEQUENCE_TIMEOUT'],
  ['engine-unavailable', ({ errno, message }) => errno === 1053 || /shutdown in progress/i.test(message)],
  // The index is configured, but searchd could not load it.
  ['engine-unavailable', ({ message }) => /^no enabled local indexes/.test(message)],
  // Wrong credentials concern every query, so they are a state of the engine and not an error of this query.
  ['engine-unavailable', ({ errno }) => errno === 1045 || errno === 1203],
  ['engine-rejected', ({ errno }) => errno !== undefined && errno > 0],
];

export function engineErrorOf(error: unknown): SearchError {
  if (error instanceof SearchError) return error;
  const foreign = read(error);
  // Without an errno of searchd: the network failed, or the driver lost the connection.
  const [reason] = RULES.find(([, when]) => when(foreign)) ?? ['engine-unavailable' as const];
  return new SearchError(reason, foreign.message, { cause: error });
}

/** Whether an agent failed: another mirror may answer the next attempt. Sphinx 2.2.11 does not ask a mirror by itself. */
export function isAgentFault(text: string): boolean {
  return AGENT.test(text.replace(new RegExp(AGENT_REFUSAL, 'g'), ''));
}

/** Codes of the driver and of OpenSSL in Node: a wrong certificate, a wrong name, or a server without TLS. */
const TLS =
  /^(?:HANDSHAKE_(?:NO_SSL_SUPPORT|SSL_ERROR)|ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|HOSTNAME_MISMATCH)/;

/** OpenSSL's format: thread, number, library and function, then the reason, then file and line. */
const OPENSSL = /^[0-9A-F]+:error:[^:]*:[^:]*:[^:]*:([^:]*):[\s\S]*$/;

function read(error: unknown): ForeignError {
  if (!(error instanceof Error)) return { message: String(error) };
  const errno = 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // searchd ends its messages with a NUL. Node's AggregateError of several addresses has no message of its own.
  const said = error.message.replace(/\0+$/, '') || code || error.name;
  const message =
    code !== undefined && TLS.test(code) ? `no TLS with the engine: ${said.replace(OPENSSL, '$1')} (${code})` : said;
  return { message, errno, code };
}
