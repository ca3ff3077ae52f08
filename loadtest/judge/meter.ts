import type { Sample } from '../sample/sample.ts';
import type { ResourceKind, ResourceUse } from './judged.ts';
import type { Machine } from './record.ts';

/** How one thing that can be full is read off the samples of a stretch. */
export interface Meter {
  readonly kind: ResourceKind;
  readonly name: string;
  /** What is widened at once has one cause: the places of two domains, but not a core and the machine. */
  readonly cause: string;
  /** Memory fills with time, not with the rate: a line through steps would foretell nothing. */
  readonly growsWithRate: boolean;
  /** Undefined when it could not be measured in that stretch. */
  readonly read: (look: Look) => Reading | undefined;
}

export interface Look {
  /** Of one stretch, in their order. */
  readonly samples: readonly Sample[];
  readonly searchesPerSecond: number;
  readonly machine: Machine;
}

export interface Reading {
  /** 0–1 of what there is; undefined where nobody knows how much there is. */
  readonly share?: number;
  readonly words: string;
}

/** Which one it is needs its cause as well. */
export interface CausedUse extends ResourceUse {
  readonly cause: string;
}

/** The one that is fullest. */
export function fullest<T extends { readonly share: number }>(readings: readonly T[]): T | undefined {
  return readings.reduce<T | undefined>(
    (most, one) => (most === undefined || one.share > most.share ? one : most),
    undefined,
  );
}
