/** The search whose page comes nearest to the wanted size. */
export async function pageOfSize(baseUrl: string, wantedBytes: number): Promise<string> {
  const sized: { target: string; off: number }[] = [];
  for (let limit = 4; limit <= 24; limit += 1) {
    const target = `/search?q=${encodeURIComponent('кроссовки')}&limit=${limit}&facet=city`;
    const { body } = await fetchPage(baseUrl + target);
    sized.push({ target, off: Math.abs(Buffer.byteLength(body) - wantedBytes) });
  }
  return sized.sort((a, b) => a.off - b.off)[0]?.target ?? '';
}

export async function fetchPage(url: string): Promise<{ headers: Record<string, string>; body: string }> {
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body}`);
  const headers = Object.fromEntries(response.headers);
  for (const own of ['date', 'connection', 'keep-alive', 'content-length']) delete headers[own];
  return { headers, body };
}
