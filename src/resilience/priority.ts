/** Who waits for an engine, most urgent first: an idle place goes to the first of them that wants it. */
export const PRIORITIES = ['people', 'refresh', 'warm-up', 'shadow'] as const;

export type Priority = (typeof PRIORITIES)[number];
