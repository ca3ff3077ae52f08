/** A line holds every domain of the service: some kilobytes. */
const MAX_LINE_CHARACTERS = 4 * 1024 * 1024;

/**
 * The lines of a body, each parsed, as they come.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<unknown, void>}
 */
export async function* linesOf(body) {
  const reader = body
    .pipeThrough(/** @type {ReadableWritablePair<string, Uint8Array>} */ (new TextDecoderStream()))
    .getReader();
  let held = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      held += value;
      const parts = held.split('\n');
      held = parts.pop() ?? '';
      if (held.length > MAX_LINE_CHARACTERS) throw new SyntaxError('a line without an end');
      for (const part of parts) if (part.trim() !== '') yield JSON.parse(part);
    }
  } finally {
    // A reader that was left must not keep the connection.
    await reader.cancel().catch(() => {});
  }
}
