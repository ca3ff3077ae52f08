import { storedNameOf } from '../../../src/search/key.ts';

/** As whoever composes the room says it. */
export const bucketOf = (key: string): number => storedNameOf(key, 'goods').bucket;
