/** @param {string} url @returns {Promise<string>} the body of a 200. @throws for any other answer. */
export async function fetchPage(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (response.status !== 200) {
    // An answer that is not read keeps its connection.
    await response.text();
    throw Object.assign(new Error(`the origin answers ${response.status}`), { statusCode: 503 });
  }
  return response.text();
}
