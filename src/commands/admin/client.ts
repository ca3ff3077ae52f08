import { problemIn, stranger, unreachable } from './problem.ts';

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
