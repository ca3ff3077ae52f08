import type { AuditEntry } from '../../../operations/audit/audit.ts';
import type { HistoryLine, Standing } from '../../../operations/doctor/report.ts';
import type { DrillSummary, HaltState, ListedDrills } from '../../../operations/drills/drills.ts';
import type { Journal } from '../../../operations/drills/journal.ts';
import type { Plan } from '../../../operations/drills/plan.ts';
import type { SuppressedList } from '../../../operations/flush/answers.ts';
import type { Erasure } from '../../../operations/flush/flush.ts';
import type { DomainLook, DomainOperations } from '../../../operations/operations.ts';
import type { ShadowSample } from '../../../operations/shadow/figures.ts';
import type {
  ReportSummary as ShadowReportSummary,
  ShadowStatus,
  ShadowSummary,
} from '../../../operations/shadow/shadow.ts';
import type { WarmUp } from '../../../operations/warm/warm.ts';

export type LiveLine = {
  readonly atMs: number;
  readonly domains: readonly DomainLook[];
  readonly drills: readonly DrillSummary[];
};

export type DoctorLook = { readonly standing?: Standing; readonly history: readonly HistoryLine[] };

/** The answer of each feed, by the feed's name. */
export interface FeedValues {
  readonly halt: HaltState;
  readonly plans: { readonly plans: readonly Plan[] };
  readonly drills: ListedDrills;
  /** The drill that is watched, with the samples read so far. The next read begins with sample `nextSample`. */
  readonly journal: Journal & { readonly nextSample: number; readonly emptyReads: number };
  readonly popular: Awaited<ReturnType<DomainOperations['popular']>>;
  readonly suppressed: SuppressedList;
  readonly flush: { readonly domain: string; readonly erasure?: Erasure };
  readonly warm: { readonly warmUps: readonly WarmUp[] };
  readonly shadows: { readonly domains: readonly ShadowSummary[] };
  readonly shadowStatus: ShadowStatus;
  readonly curves: { readonly shadow?: string; readonly samples: readonly ShadowSample[] };
  readonly shadowReports: { readonly reports: readonly ShadowReportSummary[] };
  readonly doctor: DoctorLook;
  readonly audit: { readonly entries: readonly (AuditEntry & { readonly atMs: number })[]; readonly next?: string };
}

export type Credentials = { readonly token: string; readonly operator: string };

export type CredentialStore = ReturnType<typeof createCredentialStore>;

export type Api = ReturnType<typeof createApi>;

const READ_TIMEOUT_MS = 10_000;
/** Maximum time of an operator's action: a dry run counts keys on every node, an abort or an examination waits for the stores. */
const CHANGE_TIMEOUT_MS = 60_000;

/** Why a request failed, in words for the operator. */
export class ApiProblem extends Error {
  override name = 'ApiProblem';
  readonly code: string;

  /** @param code A code of the API, or `unreachable`, `slow`, `unreadable`, `no-token`, `internal`. */
  constructor(code: string, detail: string) {
    super(detail);
    this.code = code;
  }
}

export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new ApiProblem(
      'slow',
      'No answer in time. What was asked may have been done all the same: look before you repeat it.',
    );
  }
  if (error instanceof SyntaxError) return new ApiProblem('unreadable', 'The answer could not be read.');
  if (error instanceof TypeError) return new ApiProblem('unreachable', 'The service cannot be reached.');
  // A fault of the console itself is shown like any other, and reported in full to the browser's console.
  console.error(error);
  return new ApiProblem('internal', `The console failed: ${error instanceof Error ? error.message : String(error)}`);
}

/**
 * Holds the token in this variable and nowhere else: a reload forgets it, and nothing is written to disk. @param
 * prompt Asks the operator; undefined when cancelled.
 */
export function createCredentialStore(
  prompt: (refused: boolean) => Promise<Credentials | undefined>,
  onChange: () => void,
) {
  let current: Credentials | undefined;
  let asking: Promise<Credentials | undefined> | undefined;
  let isDeclined = false;

  return {
    current: () => current,
    set: (next: Credentials): void => {
      current = next;
      isDeclined = false;
      onChange();
    },
    /** Called after a 401 with `used`. Resolves to true when there are other credentials to try. */
    renew: async (used: Credentials | undefined, byOperator: boolean): Promise<boolean> => {
      if (current !== used) return current !== undefined;
      // The console's own reads, one a second, must not open again the dialog that the operator has just closed.
      if (isDeclined && !byOperator) return false;
      asking ??= prompt(used !== undefined).finally(() => {
        asking = undefined;
      });
      const given = await asking;
      isDeclined = given === undefined;
      if (given !== undefined) current = given;
      onChange();
      return given !== undefined;
    },
  };
}

/**
 * Each method rejects with an `ApiProblem`.
 * @param onReadOnly Called with true when the service answers without a token, which means that it has none and
 * refuses changes; with false when it asks for a token.
 */
export function createApi(credentials: CredentialStore, onReadOnly: (readOnly: boolean) => void) {
  const send = async (path: string, init: RequestInit, byOperator: boolean): Promise<Response> => {
    const used = credentials.current();
    const headers = new Headers(init.headers);
    if (used !== undefined) headers.set('authorization', `Bearer ${used.token}`);
    if (used !== undefined && used.operator !== '') headers.set('x-operator', used.operator);
    const response = await fetch(path, { ...init, cache: 'no-store', credentials: 'omit', redirect: 'error', headers });
    if (response.status === 401) {
      await response.body?.cancel();
      if (await credentials.renew(used, byOperator)) {
        onReadOnly(false);
        // The operator may take a minute over the dialog, so the second try gets a timeout of its own.
        const { signal } = init;
        const again = signal?.aborted ? { ...init, signal: AbortSignal.timeout(CHANGE_TIMEOUT_MS) } : init;
        return send(path, again, byOperator);
      }
      throw new ApiProblem('no-token', 'The service asks for a token, and none was given.');
    }
    if (!response.ok) {
      const problem = await problemIn(response);
      if (problem.code === 'token-not-set') onReadOnly(true);
      throw problem;
    }
    if (init.method === undefined && used === undefined) onReadOnly(true);
    return response;
  };

  const withProblem = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asProblem(error);
    }
  };
  const within = (ms: number) => ({ signal: AbortSignal.timeout(ms) });

  return {
    /** A background read; parses JSON. */
    get: <T>(path: string) => withProblem(async () => parsed<T>(await send(path, within(READ_TIMEOUT_MS), false))),
    /** An operator's read, which may take as long as a change; parses JSON. */
    ask: <T>(path: string) => withProblem(async () => parsed<T>(await send(path, within(CHANGE_TIMEOUT_MS), true))),
    /** An operator's read; returns the body as text. */
    text: (path: string) => withProblem(async () => (await send(path, within(READ_TIMEOUT_MS), true)).text()),
    /** An operator's action; parses JSON. */
    post: <T>(path: string, body: object = {}) =>
      withProblem(async () => {
        const headers = { 'content-type': 'application/json' };
        const init = { method: 'POST', body: JSON.stringify(body), headers, ...within(CHANGE_TIMEOUT_MS) };
        return parsed<T>(await send(path, init, true));
      }),
    /** A body that streams until the signal aborts. */
    open: (path: string, signal: AbortSignal) => withProblem(() => send(path, { signal }, false)),
  };
}

/** The members of an answer are not checked: a view that cannot draw them says so. */
async function parsed<T>(response: Response): Promise<T> {
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** @param response One with an error status. */
async function problemIn(response: Response): Promise<ApiProblem> {
  try {
    const { code, detail } = await parsed<Readonly<Record<'code' | 'detail', unknown>>>(response);
    if (typeof code === 'string' && typeof detail === 'string') return new ApiProblem(code, detail);
  } catch {
    // Not a problem document of the service: a proxy's page, or an answer that was cut off.
  }
  return new ApiProblem('unreadable', `The answer was ${response.status} ${response.statusText}, without a reason.`);
}
