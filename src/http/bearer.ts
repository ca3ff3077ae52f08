import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Whether an `Authorization` field carries the token. Compared as digests, so that neither the position of the first
 * wrong character nor the token's length shows in the time it takes.
 */
export function createBearerCheck(token: string | undefined): (authorization: string | undefined) => boolean {
  if (token === undefined || token === '') return () => false;
  const expected = hash('sha256', token, 'buffer');
  return (authorization) => {
    const given = /^bearer +([^\s]+)$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) return false;
    return timingSafeEqual(hash('sha256', given, 'buffer'), expected);
  };
}
