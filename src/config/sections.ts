/** Bytes and milliseconds for bounds and defaults. */
export const KIB = 2 ** 10;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Names nobody declared are faults, in every mapping. */
export const closed = (description: string) => ({ additionalProperties: false, description });
/** A mapping that may be left out: everything in it has a default. */
export const section = (description: string) => ({ ...closed(description), default: {} });
