import type { Checker } from './checker.ts';

export const CHECKERS: readonly Checker[] = [];
