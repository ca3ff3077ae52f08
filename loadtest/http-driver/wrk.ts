/** @param text output of wrk. @throws when it has no rate. */
export function wrkReport(text: string) {
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(text)?.[1];
  const requests = /(\d+) requests in/.exec(text)?.[1];
  if (rate === undefined || requests === undefined) throw new Error(`wrk reported no rate: ${text.trim()}`);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0);
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)?.slice(1) ?? [];
  return {
    requests: Number(requests),
    perSecond: Number(rate),
    /** Answers that were not 2xx or 3xx, and broken connections. */
    errors: broken.reduce((sum, each) => sum + Number(each), refused),
  };
}
