import { hash } from 'node:crypto';
import type { Attribute } from './domain.ts';

/** The shape of the body; raised when the same page would be written differently. */
const BODY_VERSION = 1;

/** Everything on the engine's side that changes an answer. Part of every key: a changed configuration never serves old answers. */
export interface AnswerProfile {
  readonly engine: string;
  /** Of the adapter: raised when it asks or reads in another way. */
  readonly revision: number;
  readonly index: string;
  readonly ranker: string;
  /** Further settings of that engine which change its answers, in a fixed order. */
  readonly details: readonly (string | number)[];
  readonly snippetLength: number;
  readonly attributes: readonly Attribute[];
}

/** 11 base64url characters. */
export function profileHash(profile: AnswerProfile): string {
  const attributes = profile.attributes.map(({ name, type, facet, sort }) => [name, type, facet, sort]);
  const text = JSON.stringify([
    BODY_VERSION,
    profile.engine,
    profile.revision,
    profile.index,
    profile.ranker,
    profile.details,
    profile.snippetLength,
    attributes,
  ]);
  return hash('sha256', text, 'buffer').toString('base64url', 0, 8);
}
