/**
 * The admin API as the console uses it: the types of its answers, its errors, its token and its requests.
 * @typedef {import('../../../operations/operations.ts').DomainLook} DomainLook
 * @typedef {import('../../../operations/meter/figures.ts').Figures} Figures
 * @typedef {import('../../../search/outcome.ts').Outcome} Outcome
 * @typedef {import('../../../control/document.ts').FlushMode} FlushMode
 * @typedef {import('../../../operations/drills/drills.ts').DrillSummary} DrillSummary
 * @typedef {import('../../../operations/drills/drills.ts').UnreadableReport} UnreadableReport
 * @typedef {import('../../../operations/drills/drills.ts').DrillPreview} DrillPreview
 * @typedef {import('../../../operations/drills/journal.ts').Journal} Journal
 * @typedef {import('../../../operations/drills/journal.ts').Sample} Sample
 * @typedef {import('../../../operations/drills/plan.ts').Plan} Plan
 * @typedef {import('../../../operations/drills/plan.ts').GuardRule} GuardRule
 * @typedef {import('../../../operations/flush/flush.ts').FlushPreview} FlushPreview
 * @typedef {import('../../../operations/flush/flush.ts').Erasure} Erasure
 * @typedef {import('../../../operations/warm/warm.ts').WarmUp} WarmUp
 * @typedef {import('../../../operations/audit/audit.ts').AuditEntry} AuditEntry
 * @typedef {import('../../../operations/shadow/shadow.ts').ShadowSummary} ShadowSummary
 * @typedef {import('../../../operations/shadow/shadow.ts').ShadowStatus} ShadowStatus
 * @typedef {import('../../../operations/shadow/shadow.ts').ReportSummary} ShadowReportSummary
 * @typedef {import('../../../operations/shadow/shadow.ts').Moved} Moved
 * @typedef {import('../../../operations/shadow/shadow.ts').Stopped} Stopped
 * @typedef {import('../../../operations/shadow/figures.ts').Sample} ShadowSample
 * @typedef {import('../../../operations/shadow/figures.ts').Comparison} Comparison
 * @typedef {import('../../../operations/shadow/figures.ts').Side} Side
 * @typedef {import('../../../operations/shadow/figures.ts').Verdict} Verdict
 * @typedef {import('../../../operations/doctor/report.ts').Report} DoctorReport
 * @typedef {import('../../../operations/doctor/report.ts').Finding} Finding
 * @typedef {import('../../../operations/doctor/report.ts').Standing} Standing
 * @typedef {import('../../../operations/doctor/report.ts').HistoryLine} HistoryLine
 *
 * @typedef {{ readonly atMs: number, readonly domains: readonly DomainLook[], readonly drills: readonly DrillSummary[] }} LiveLine
 * @typedef {{ readonly halted: boolean, readonly domains: readonly { readonly domain: string, readonly reason: string, readonly by: string, readonly atMs: number }[] }} Halts
 * @typedef {{ readonly domain: string, readonly source: 'fleet' | 'process', readonly queries: readonly { readonly search: string, readonly count: number }[] }} Popular
 * @typedef {{ readonly domain: string, readonly max: number, readonly suppressed: readonly { readonly id: string, readonly atMs: number }[] }} Suppressed
 * @typedef {{ readonly shadow?: string, readonly total: number, readonly samples: readonly ShadowSample[] }} ShadowSamples
 * @typedef {{ readonly standing?: Standing, readonly history: readonly HistoryLine[] }} DoctorLook
 * @typedef {object} FeedValues The answer of each feed, by the feed's name.
 * @property {Halts} halt
 * @property {{ readonly plans: readonly Plan[] }} plans
 * @property {{ readonly drills: readonly DrillSummary[], readonly unreadable?: readonly UnreadableReport[] }} drills
 * @property {Popular} popular
 * @property {Suppressed} suppressed
 * @property {{ readonly domain: string, readonly erasure?: Erasure }} flush
 * @property {{ readonly warmUps: readonly WarmUp[] }} warm
 * @property {{ readonly domains: readonly ShadowSummary[] }} shadows
 * @property {ShadowStatus} shadowStatus
 * @property {{ readonly reports: readonly ShadowReportSummary[] }} shadowReports
 * @property {DoctorLook} doctor
 * @property {{ readonly entries: readonly (AuditEntry & { readonly atMs: number })[], readonly next?: string }} audit
 *
 * @typedef {{ readonly token: string, readonly operator: string }} Credentials
 * @typedef {object} CredentialStore
 * @property {() => Credentials | undefined} current
 * @property {(credentials: Credentials | undefined) => void} set
 * @property {(used: Credentials | undefined, byOperator: boolean) => Promise<boolean>} renew Called after a 401 with
 *   `used`. Resolves to true when there are other credentials to try.
 *
 * @typedef {object} Api Each method rejects with a `Problem`.
 * @property {<T>(path: string) => Promise<T>} get A background read; parses JSON.
 * @property {<T>(path: string, body?: object) => Promise<T>} post An operator's action; parses JSON.
 * @property {<T>(path: string) => Promise<T>} ask An operator's read, which may take as long as a change; parses JSON.
 * @property {(path: string) => Promise<string>} text An operator's action; returns the body as text.
 * @property {(path: string, signal: AbortSignal) => Promise<Response>} open A body that streams until the signal aborts.
 */

const READ_TIMEOUT_MS = 10_000;
/** Maximum time of an operator's action: a dry run counts keys on every node, an abort or an examination waits for the stores. */
const CHANGE_TIMEOUT_MS = 60_000;

/** Why a request failed, in words for the operator. */
export class Problem extends Error {
  /** @override */
  name = 'Problem';

  /**
   * @param {string} code A code of the API, or `unreachable`, `slow`, `unreadable`, `no-token`, `internal`.
   * @param {string} detail
   * @param {string} [parameter]
   */
  constructor(code, detail, parameter) {
    super(detail);
    this.code = code;
    this.parameter = parameter;
  }
}

/**
 * @param {unknown} error
 * @returns {Problem}
 */
export function asProblem(error) {
  if (error instanceof Problem) return error;
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new Problem(
      'slow',
      'No answer in time. What was asked may have been done all the same: look before you repeat it.',
    );
  }
  if (error instanceof SyntaxError) return new Problem('unreadable', 'The answer could not be read.');
  if (error instanceof TypeError) return new Problem('unreachable', 'The service cannot be reached.');
  // A fault of the console itself is shown like any other, and reported in full to the browser's console.
  reportError(error);
  return new Problem('internal', `The console failed: ${error instanceof Error ? error.message : String(error)}`);
}

/**
 * Holds the token in this variable and nowhere else: a reload forgets it, and nothing is written to disk.
 * @param {(refused: boolean) => Promise<Credentials | undefined>} prompt Asks the operator; undefined when cancelled.
 * @param {() => void} onChange
 * @returns {CredentialStore}
 */
export function createCredentialStore(prompt, onChange) {
  /** @type {Credentials | undefined} */
  let current;
  /** @type {Promise<Credentials | undefined> | undefined} */
  let asking;
  let isDeclined = false;

  return {
    current: () => current,
    set: (next) => {
      current = next;
      isDeclined = false;
      onChange();
    },
    renew: async (used, byOperator) => {
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
 * @param {CredentialStore} credentials
 * @param {(readOnly: boolean) => void} onReadOnly Called with true when the service answers without a token, which means
 *   that it has none and refuses changes; with false when it asks for a token.
 * @returns {Api}
 */
export function createApi(credentials, onReadOnly) {
  /**
   * @param {string} path
   * @param {RequestInit} init
   * @param {boolean} byOperator
   * @returns {Promise<Response>}
   */
  const send = async (path, init, byOperator) => {
    const used = credentials.current();
    const response = await fetch(path, {
      ...init,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      headers: {
        ...init.headers,
        ...(used === undefined ? {} : { authorization: `Bearer ${used.token}` }),
        ...(used === undefined || used.operator === '' ? {} : { 'x-operator': used.operator }),
      },
    });
    if (response.status === 401) {
      await response.body?.cancel();
      if (await credentials.renew(used, byOperator)) {
        onReadOnly(false);
        // The operator may take a minute over the dialog, so the second try gets a timeout of its own.
        const { signal } = init;
        const again = signal?.aborted ? { ...init, signal: AbortSignal.timeout(CHANGE_TIMEOUT_MS) } : init;
        return send(path, again, byOperator);
      }
      throw new Problem('no-token', 'The service asks for a token, and none was given.');
    }
    if (!response.ok) {
      const problem = await problemIn(response);
      if (problem.code === 'token-not-set') onReadOnly(true);
      throw problem;
    }
    if (init.method === undefined && used === undefined) onReadOnly(true);
    return response;
  };

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  const withProblem = async (work) => {
    try {
      return await work();
    } catch (error) {
      throw asProblem(error);
    }
  };
  const within = (/** @type {number} */ ms) => ({ signal: AbortSignal.timeout(ms) });

  return {
    get: (path) => withProblem(async () => (await send(path, within(READ_TIMEOUT_MS), false)).json()),
    ask: (path) => withProblem(async () => (await send(path, within(CHANGE_TIMEOUT_MS), true)).json()),
    text: (path) => withProblem(async () => (await send(path, within(READ_TIMEOUT_MS), true)).text()),
    post: (path, body = {}) =>
      withProblem(async () => {
        const init = {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
          ...within(CHANGE_TIMEOUT_MS),
        };
        const response = await send(path, init, true);
        return response.status === 204 ? undefined : response.json();
      }),
    open: (path, signal) => withProblem(() => send(path, { signal }, false)),
  };
}

/**
 * @param {Response} response One with an error status.
 * @returns {Promise<Problem>}
 */
async function problemIn(response) {
  try {
    const { code, detail, parameter } = await response.json();
    if (typeof code === 'string' && typeof detail === 'string') return new Problem(code, detail, parameter);
  } catch {
    // Not a problem document of the service: a proxy's page, or an answer that was cut off.
  }
  return new Problem('unreadable', `The answer was ${response.status} ${response.statusText}, without a reason.`);
}
