import { type TSchema, Type } from 'typebox';

/** Fields that several bodies and answers share. */

export const choice = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Enum([...values] as T[], description === undefined ? {} : { description });

export const Domain = Type.String({ minLength: 1, maxLength: 64, description: 'A configured domain.' });

const MAX_REASON = 500;
export const Reason = Type.String({
  minLength: 1,
  maxLength: MAX_REASON,
  description: `Why, for the audit: 1 to ${MAX_REASON} characters.`,
});
export const OptionalReason = Type.Optional(
  Type.String({ maxLength: MAX_REASON, description: `Why, for the audit: at most ${MAX_REASON} characters.` }),
);

export const DomainQuery = Type.Object({ domain: Domain });

export const IdParams = (description: string): TSchema => Type.Object({ id: Type.String({ description }) });

/** Wall time in milliseconds since the epoch. */
export const AtMs = Type.Number({ description: 'Milliseconds since 1970-01-01T00:00Z.' });

export const BucketRange = Type.Object({ from: Type.Integer(), to: Type.Integer() });
