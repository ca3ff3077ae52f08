/** Why there is no verdict: one clear sentence, or a few lines when k6 has something to say. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}
