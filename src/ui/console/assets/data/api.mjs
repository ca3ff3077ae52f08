import { asProblem, Problem, problemIn } from './problem.mjs';

/** @typedef {import('./access.mjs').Access} Access */

const READ_MS = 10_000;
/** A dry run counts keys on every node; an abort waits for the store. */
const CHANGE_MS = 60_000;

/**
 * @typedef {object} Api
 * @property {<T>(path: string) => Promise<T>} get Parsed. Rejects with a `Problem`.
 * @property {<T>(path: string, body?: object) => Promise<T>} post Parsed; for what a person asked.
 * @property {(path: string) => Promise<string>} text For what a person asked.
 * @property {(path: string, signal: AbortSignal) => Promise<Response>} open A body that goes on until the signal.
 */

/**
 * @param {Access} access
 * @param {(readOnly: boolean) => void} heard The service has no token, which shows when it lets anybody read; or it has.
 * @returns {Api}
 */
export function createApi(access, heard) {
  /**
   * @param {string} path
   * @param {RequestInit} init
   * @param {boolean} byPerson
   * @returns {Promise<Response>}
   */
  const send = async (path, init, byPerson) => {
    const pass = access.pass();
    const response = await fetch(path, {
      ...init,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      headers: {
        ...init.headers,
        ...(pass === undefined ? {} : { authorization: `Bearer ${pass.token}` }),
        ...(pass === undefined || pass.operator === '' ? {} : { 'x-operator': pass.operator }),
      },
    });
    if (response.status === 401) {
      await response.body?.cancel();
      if (await access.renew(pass, byPerson)) {
        heard(false);
        // A person may take a minute over the dialog: the time of the first try is no measure of the second.
        const { signal } = init;
        return send(path, signal?.aborted ? { ...init, signal: AbortSignal.timeout(CHANGE_MS) } : init, byPerson);
      }
      throw new Problem('no-token', 'The service asks for a token, and none was given.');
    }
    if (!response.ok) {
      const problem = await problemIn(response);
      if (problem.code === 'token-not-set') heard(true);
      throw problem;
    }
    if (init.method === undefined && pass === undefined) heard(true);
    return response;
  };

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  const known = async (work) => {
    try {
      return await work();
    } catch (error) {
      throw asProblem(error);
    }
  };

  return {
    get: (path) => known(async () => (await send(path, { signal: AbortSignal.timeout(READ_MS) }, false)).json()),
    text: (path) => known(async () => (await send(path, { signal: AbortSignal.timeout(READ_MS) }, true)).text()),
    post: (path, body = {}) =>
      known(async () => {
        const response = await send(
          path,
          {
            method: 'POST',
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json' },
            signal: AbortSignal.timeout(CHANGE_MS),
          },
          true,
        );
        return response.status === 204 ? undefined : response.json();
      }),
    open: (path, signal) => known(() => send(path, { signal }, false)),
  };
}
