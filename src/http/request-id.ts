/**
 * Names requests: the client's `X-Request-Id` where it is sane (at most 64 of `A–Z a–z 0–9 . _ -`, so that it can be
 * put into a header and a log line as it is), else a name of our own, unique to this process's run and in order.
 */
export function createRequestIds(random: () => number): (given: string | string[] | undefined) => string {
  const run = Array.from({ length: 2 }, () =>
    Math.floor(random() * 2 ** 31)
      .toString(36)
      .padStart(6, '0'),
  ).join('');
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given)) return given;
    count += 1;
    return `${run}-${count.toString(36)}`;
  };
}
