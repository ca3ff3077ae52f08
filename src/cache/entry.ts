import type { Coding } from './codec.ts';

/** A page encoded once to bytes, with its metadata. What L1 holds, L2 stores and http sends. */
export interface Entry {
  /** The coding of `body` as stored; it passes through when the client accepts it. */
  readonly coding: Coding;
  readonly empty: boolean;
  /** A partial answer: short-lived, in L1 only, never in place of a whole one. */
  readonly degraded: boolean;
  /** The lowest one served is the floor. */
  readonly generation: number;
  /** Wall time at the **start** of the engine call: what the answer is as old as. */
  readonly createdAtMs: number;
  /** The same instant on this process's monotonic clock: ages are counted from it, so a stepped clock changes none. */
  readonly bornMs: number;
  /** Fresh until this age. Lifetimes are durations, so that a skewed clock cannot extend them. */
  readonly freshForMs: number;
  /** After that, for so long, served while one refresh runs. */
  readonly revalidateForMs: number;
  /** After being fresh, for so long, served when the engine fails. */
  readonly errorForMs: number;
  /** What computing it cost the engine. */
  readonly costMs: number;
  /** Of the identity body: 16 base64url characters (96 bits of SHA-256), without quotes and coding suffix. */
  readonly etag: string;
  /** 32-bit fingerprints of the result ids, so that a suppressed document is found without parsing the body. */
  readonly fingerprints: Uint32Array;
  readonly body: Buffer;
  /** The whole entry as encoded, `body` included (the same memory): what is written to L2. */
  readonly encoded: Buffer;
}
