/** Why a request did not do what it should, in words for the operator. */
export class Problem extends Error {
  /** @override */
  name = 'Problem';

  /**
   * @param {string} code One of the API's, or `unreachable`, `slow`, `unreadable`, `no-token`.
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
 * @param {Response} response Not ok.
 * @returns {Promise<Problem>}
 */
export async function problemIn(response) {
  try {
    const { code, detail, parameter } = await response.json();
    if (typeof code === 'string' && typeof detail === 'string') return new Problem(code, detail, parameter);
  } catch {
    // Not the service's own words: a proxy's page, or a cut answer.
  }
  return new Problem('unreadable', `The answer was ${response.status} ${response.statusText}, without a reason.`);
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
  // A fault of this page's own: it is told like any other, and the console of the browser gets it whole.
  reportError(error);
  return new Problem('internal', `The console failed: ${error instanceof Error ? error.message : String(error)}`);
}
